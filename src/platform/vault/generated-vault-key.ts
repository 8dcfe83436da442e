import type { Ids } from '../../common/ids.js';
import { generatedSecret } from '../secrets/secret-file.js';
import type { VaultEnvironment } from './vault-settings.rules.js';

const VAULT_VARIABLE = /^SECRET_VAULT_/;
const KEY_FILE = 'vault-key-v1';

/**
 * The vault's variables with the embedded database: the operator's, if any is set; otherwise a local key that is
 * generated once.
 */
export function vaultEnvironmentWithKey(env: VaultEnvironment, dataDir: string, ids: Ids): VaultEnvironment {
  if (Object.keys(env).some((name) => VAULT_VARIABLE.test(name) && env[name])) return env;
  return { SECRET_VAULT_MODE: 'local', SECRET_VAULT_LOCAL_KEK_V1: generatedSecret(dataDir, KEY_FILE, ids) };
}
