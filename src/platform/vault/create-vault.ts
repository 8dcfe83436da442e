import type { Ids } from '../../common/ids.js';
import type { Log } from '../../common/log/log.js';
import type { Environment } from '../config/environment.js';
import { KmsClient } from './kms-client.js';
import { KmsVault } from './kms-vault.js';
import { LocalVault } from './local-vault.js';
import { MisconfiguredVault, type Vault } from './vault.js';
import { isVaultMisconfiguration, type VaultMisconfiguration, type VaultSettings } from './vault-settings.rules.js';

/** What a vault of an extension is made from, beside what the extension knows itself. */
interface VaultParts {
  readonly environment: Environment;
  readonly ids: Ids;
  readonly log: Log;
}

/**
 * Makes the vault of an extension, once, before the application; it is closed when the service stops. A rejection ends
 * the start: a vault that cannot serve yet gives itself the state `misconfigured` instead.
 */
export type VaultFactory = (parts: VaultParts) => Vault | Promise<Vault>;

/**
 * The vault for these settings. A misconfiguration still gives a vault: it refuses every secret, and the caller
 * writes the one log line that names the variable.
 */
export function createVault(settings: VaultSettings | VaultMisconfiguration, ids: Ids): Vault {
  if (isVaultMisconfiguration(settings)) return new MisconfiguredVault();
  return settings.mode === 'local' ? new LocalVault(settings, ids) : new KmsVault(new KmsClient(settings), ids);
}
