import type { Ids } from '../../common/ids.js';
import { generatedSecret } from '../secrets/signing-secrets.js';
import type { VaultEnvironment } from './vault-settings.rules.js';

/** One variable of the vault, for the documentation. */
interface VaultVariable {
  readonly name: string;
  readonly description: string;
  /** The default as the documentation shows it. */
  readonly fallbackText: string;
}

const GENERATED = 'generated in `DATA_DIR` with the embedded database; required otherwise';

/**
 * The variables of `readVaultSettings`. They are not settings of `Environment`, because an invalid one must not affect
 * what needs no provider key.
 */
export const VAULT_VARIABLES: readonly VaultVariable[] = [
  {
    name: 'SECRET_VAULT_MODE',
    description:
      'Where the keys that seal provider keys are: `local` = this process, `kms` = a remote service. A variable of the other mode is a misconfiguration.',
    fallbackText: GENERATED,
  },
  {
    name: 'SECRET_VAULT_LOCAL_KEK_V1',
    description:
      'Mode `local`: base64 of exactly 32 random bytes. More versions are `SECRET_VAULT_LOCAL_KEK_V2` to `_V9999`; keep each as long as secrets sealed with it exist.',
    fallbackText: GENERATED,
  },
  {
    name: 'SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION',
    description: 'Mode `local`: the version that seals new secrets.',
    fallbackText: '`1`',
  },
  {
    name: 'SECRET_VAULT_KMS_URL',
    description: 'Mode `kms`: address of the service that wraps keys; https, or http on loopback.',
    fallbackText: 'unset; required in mode `kms`',
  },
  {
    name: 'SECRET_VAULT_KMS_TOKEN',
    description: 'Mode `kms`: bearer token for it.',
    fallbackText: 'unset; required in mode `kms`',
  },
];

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
