import { homedir } from 'node:os';
import { join } from 'node:path';

/** The settings of `gw` from the environment. An empty variable is an absent one. */
export interface Environment {
  readonly url: string | undefined;
  readonly managementKey: string | undefined;
  readonly profile: string | undefined;
  /** A key of an application, for calls. */
  readonly appKey: string | undefined;
  readonly allowsHttp: boolean;
  /** Whether keys may go to the keychain of the operating system. */
  readonly usesKeychain: boolean;
  /** Whether a browser can be opened where the person sits. */
  readonly hasBrowser: boolean;
  /** Where profiles and keys are kept. */
  readonly stateFolder: string;
  /** The key of a provider that is to be created from a file. */
  providerSecret(slug: string): string | undefined;
}

/** The variable that holds the key of a provider: `GW_PROVIDER_SECRET_MY_OPENAI` for `my-openai`. */
export function providerSecretVariable(slug: string): string {
  return `GW_PROVIDER_SECRET_${slug.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

/** Reads the environment of this process, once. */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env): Environment {
  const read = (name: string) => variables[name]?.trim() || undefined;
  const isRemote = read('SSH_CONNECTION') !== undefined || read('SSH_TTY') !== undefined;
  const hasDesktop =
    process.platform === 'darwin' ||
    process.platform === 'win32' ||
    ['DISPLAY', 'WAYLAND_DISPLAY', 'WSL_DISTRO_NAME'].some((name) => read(name) !== undefined);
  return {
    url: read('GW_URL'),
    managementKey: read('GW_MANAGEMENT_KEY'),
    profile: read('GW_PROFILE'),
    appKey: read('GW_APP_KEY'),
    allowsHttp: read('GW_ALLOW_HTTP') === '1',
    usesKeychain: read('GW_NO_KEYCHAIN') !== '1',
    hasBrowser: hasDesktop && !isRemote,
    stateFolder: join(read('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state'), 'gw'),
    providerSecret: (slug) => read(providerSecretVariable(slug)),
  };
}

/** The clock of this machine, milliseconds since 1970. */
export const nowMs = () => Date.now();

/** The instant of a date of HTTP or ISO 8601, milliseconds since 1970; NaN for any other text. */
export const instantMsOf = (text: string) => Date.parse(text);
