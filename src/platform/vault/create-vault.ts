import type { Ids } from '../../common/ids.js';
import type { Log } from '../../common/log/log.js';
import type { Environment } from '../config/environment.js';
import { KmsClient } from './kms-client.js';
import { KmsVault } from './kms-vault.js';
import { LocalVault } from './local-vault.js';
import { MisconfiguredVault, type Vault } from './vault.js';
import { isVaultMisconfiguration, type VaultMisconfiguration, type VaultSettings } from './vault-settings.rules.js';

/** Inputs of an extension's vault factory. */
interface VaultParts {
  readonly environment: Environment;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * Creates an extension's vault, once, before the application; the service closes it when it stops. A rejection aborts
 * the start; a vault that is not ready yet reports the state `misconfigured` instead.
 */
export type VaultFactory = (parts: VaultParts) => Vault | Promise<Vault>;

/**
 * The vault for these settings. A misconfiguration also gives a vault, which refuses every secret; the caller logs the
 * variable.
 */
export function createVault(settings: VaultSettings | VaultMisconfiguration, ids: Ids): Vault {
  if (isVaultMisconfiguration(settings)) return new MisconfiguredVault();
  return settings.mode === 'local' ? new LocalVault(settings, ids) : new KmsVault(new KmsClient(settings), ids);
}
