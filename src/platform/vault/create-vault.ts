import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Ids } from '../../common/ids.js';
import type { Log } from '../../common/log/log.js';
import type { Secret } from '../../common/log/secret.js';
import type { Environment } from '../config/environment.js';
import type { EgressSettings } from '../outbound/egress/egress-proxy.rules.js';
import { KmsClient } from './kms-client.js';
import { KmsVault } from './kms-vault.js';
import { LocalVault } from './local-vault.js';
import type { VaultContext } from './sealed-blob.rules.js';
import { MisconfiguredVault, Vault } from './vault.js';
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
 *
 * @param egress the way to a remote key service; by default it is dialled directly.
 */
export function createVault(settings: VaultSettings | VaultMisconfiguration, ids: Ids, egress?: EgressSettings): Vault {
  if (isVaultMisconfiguration(settings)) return new MisconfiguredVault();
  return settings.mode === 'local'
    ? new LocalVault(settings, ids)
    : new KmsVault(new KmsClient(settings, undefined, egress), ids);
}

/**
 * Wraps an extension's vault and restricts its errors to those of a vault. Any other error is replaced: its text may
 * contain the secret, and unexpected errors are logged.
 */
export class ExtensionVault extends Vault {
  constructor(private readonly vault: Vault) {
    super();
  }

  get state(): Vault['state'] {
    return this.vault.state;
  }

  async seal(secret: Secret, context: VaultContext): Promise<string> {
    try {
      return await this.vault.seal(secret, context);
    } catch (error) {
      throw sayable(error);
    }
  }

  async open(blob: string, context: VaultContext): Promise<Secret> {
    try {
      return await this.vault.open(blob, context);
    } catch (error) {
      throw sayable(error);
    }
  }

  needsRewrap(blob: string): boolean {
    return this.vault.needsRewrap(blob);
  }

  override close(): Promise<void> {
    return this.vault.close();
  }
}

/** Passes a refusal with a vault's code; reports any other error without its content. */
function sayable(error: unknown): GatewayError {
  const isRefusal = error instanceof GatewayError && error.code === 'provider_unavailable';
  return isRefusal ? error : new GatewayError('provider_unavailable', { reason: 'vault_failed' });
}
