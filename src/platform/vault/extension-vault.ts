import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import type { VaultContext } from './sealed-blob.rules.js';
import { Vault } from './vault.js';

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
