import { GatewayError } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import type { VaultContext } from './sealed-blob.rules.js';

/**
 * Keeps the secrets we must use again (provider keys, tokens of upstream gateways) unreadable at rest and tied to the row
 * they belong to. Source: docs/reference/security.md#vault.
 */
export abstract class Vault {
  /** What the health route reports. */
  abstract readonly state: 'ok' | 'misconfigured';

  /**
   * Encrypts a secret for one context.
   *
   * @returns a text without white space, safe to store.
   * @throws provider_unavailable reason `vault_misconfigured` or `vault_unreachable`.
   */
  abstract seal(secret: Secret, context: VaultContext): Promise<string>;

  /**
   * Gives back what was sealed for the same context.
   *
   * @throws provider_unavailable reason `secret_undecryptable` (this blob only), `vault_misconfigured` or
   * `vault_unreachable` (see `VaultUnreachable`).
   */
  abstract open(blob: string, context: VaultContext): Promise<Secret>;

  /** True when the blob was sealed with an older key version: opening and sealing it again lets that version go. */
  abstract needsRewrap(blob: string): boolean;

  /** Ends connections, where the vault has any. */
  async close(): Promise<void> {}
}

/** Stands in when no vault can be built, so that everything that needs no provider key keeps working. */
export class MisconfiguredVault extends Vault {
  readonly state = 'misconfigured';

  async seal(): Promise<string> {
    throw vaultMisconfigured();
  }

  async open(): Promise<Secret> {
    throw vaultMisconfigured();
  }

  needsRewrap(): boolean {
    return false;
  }
}

/**
 * The remote key service gave no usable answer: the blob may be perfectly good. Only here may a cached secret be
 * served past its time.
 */
export class VaultUnreachable extends GatewayError {
  /** @param detail what happened, for the log: without address, token or body. */
  constructor(readonly detail: string) {
    super('provider_unavailable', { reason: 'vault_unreachable' });
    this.name = 'VaultUnreachable';
  }
}

/** One stored blob cannot be opened here: wrong context, damaged, or sealed with a key this process does not have. */
export function secretUndecryptable(): GatewayError {
  return new GatewayError('provider_unavailable', { reason: 'secret_undecryptable' });
}

function vaultMisconfigured(): GatewayError {
  return new GatewayError('provider_unavailable', { reason: 'vault_misconfigured' });
}
