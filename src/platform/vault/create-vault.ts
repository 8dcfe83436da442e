import type { Ids } from '../../common/ids.js';
import { KmsClient } from './kms-client.js';
import { KmsVault } from './kms-vault.js';
import { LocalVault } from './local-vault.js';
import { MisconfiguredVault, type Vault } from './vault.js';
import { isVaultMisconfiguration, type VaultMisconfiguration, type VaultSettings } from './vault-settings.rules.js';

/**
 * The vault for these settings. A misconfiguration still gives a vault: it refuses every secret, and the caller
 * writes the one log line that names the variable (threats 6.4).
 */
export function createVault(settings: VaultSettings | VaultMisconfiguration, ids: Ids): Vault {
  if (isVaultMisconfiguration(settings)) return new MisconfiguredVault();
  return settings.mode === 'local' ? new LocalVault(settings, ids) : new KmsVault(new KmsClient(settings), ids);
}
