import { homedir } from 'node:os';
import { join } from 'node:path';

/** The settings of `gw` from the environment. An empty variable is an absent one. */
export interface Environment {
  readonly url: string | undefined;
  readonly managementKey: string | undefined;
  readonly profile: string | undefined;
  readonly allowsHttp: boolean;
  /** Where profiles and keys are kept. */
  readonly stateFolder: string;
}

/** Reads the environment of this process, once. */
export function readEnvironment(variables: NodeJS.ProcessEnv = process.env): Environment {
  const read = (name: string) => variables[name]?.trim() || undefined;
  return {
    url: read('GW_URL'),
    managementKey: read('GW_MANAGEMENT_KEY'),
    profile: read('GW_PROFILE'),
    allowsHttp: read('GW_ALLOW_HTTP') === '1',
    stateFolder: join(read('XDG_STATE_HOME') ?? join(homedir(), '.local', 'state'), 'gw'),
  };
}
