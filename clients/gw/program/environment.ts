import { homedir } from 'node:os';
import { join } from 'node:path';
import { Failure } from './failure.js';

/** The settings of `gw` from the environment. An empty variable counts as absent. */
export interface Environment {
  readonly url: string | undefined;
  readonly managementKey: string | undefined;
  readonly profile: string | undefined;
  /** A key of an application, for calls. */
  readonly appKey: string | undefined;
  readonly allowsHttp: boolean;
  /** Whether keys may be stored in the keychain of the operating system. */
  readonly usesKeychain: boolean;
  /** Whether a browser can be opened on the machine of the person. */
  readonly hasBrowser: boolean;
  /** The command of the person's editor. */
  readonly editor: string;
  /** Where profiles and keys are kept. */
  readonly stateFolder: string;
  /** The value of a variable that a file names. */
  variable(name: string): string | undefined;
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
    editor: read('VISUAL') ?? read('EDITOR') ?? (process.platform === 'win32' ? 'notepad' : 'vi'),
    stateFolder: join(read('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state'), 'gw'),
    variable: read,
  };
}

/** Keys are sent unencrypted only to this machine, and never through a proxy. */
const NEVER_BY_PROXY = ['localhost', '127.0.0.1', '::1', '[::1]'];
const PROXIES = ['https_proxy', 'http_proxy'] as const;

/**
 * Sends the requests of this process through the proxies that the environment names, in upper or lower case.
 *
 * @throws Failure if one is not an address. Node before 24.14 does not support proxies and sends directly:
 * `ignoresProxy`.
 */
export async function useProxies(variables: NodeJS.ProcessEnv = process.env): Promise<void> {
  const read = (name: string) => variables[name]?.trim() || variables[name.toUpperCase()]?.trim() || undefined;
  const proxies = Object.fromEntries(PROXIES.flatMap((name) => (read(name) === undefined ? [] : [[name, read(name)]])));
  for (const [name, address] of Object.entries(proxies)) {
    if (address !== undefined && /^https?:/.test(address) && URL.canParse(address)) continue;
    const nextAction = 'Give it as http://proxy.example.com:8080, or unset it.';
    throw Failure.input('invalid_proxy', `${name.toUpperCase()} is not the address of a proxy.`, { nextAction });
  }
  if (Object.keys(proxies).length === 0) return;
  const { default: http } = await import('node:http');
  if (http.setGlobalProxyFromEnv === undefined) {
    hasUnusedProxy = true;
    return;
  }
  const exceptions = [...(read('no_proxy')?.split(',') ?? []), ...NEVER_BY_PROXY].map((host) => host.trim());
  http.setGlobalProxyFromEnv({ ...proxies, no_proxy: exceptions.join(',') });
}

let hasUnusedProxy = false;

/** Whether the environment names a proxy that this Node cannot use. */
export const ignoresProxy = () => hasUnusedProxy;

/** The clock of this machine, milliseconds since 1970. */
export const nowMs = () => Date.now();

/** The instant of a date of HTTP or ISO 8601, milliseconds since 1970; NaN for any other text. */
export const instantMsOf = (text: string) => Date.parse(text);
