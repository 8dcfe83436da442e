import { GatewayError } from '../../common/errors/gateway-error.js';
import { Secret } from '../../common/log/secret.js';
import type { VaultContext } from './sealed-blob.rules.js';

/** One version of the key of a vault. */
export interface VaultKey {
  /** 0 where the vault has one key only. */
  readonly version: number;
  /** Whether new secrets are sealed with it. */
  readonly isCurrent: boolean;
  /** Its name in messages to the operator. */
  readonly variable: string;
  /** As `Vault.seal`, with this key. */
  seal(secret: Secret, context: VaultContext): Promise<string>;
  /** As `Vault.open`. */
  open(blob: string, context: VaultContext): Promise<Secret>;
  /** Whether a blob was sealed with this version. */
  owns(blob: string): boolean;
}

/**
 * Encrypts secrets that the gateway must use again (provider keys, tokens of upstream gateways) and binds them to their
 * row. Source: docs/reference/security.md#vault.
 */
export abstract class Vault {
  /** Reported by the health route. */
  abstract readonly state: 'ok' | 'misconfigured';

  /**
   * Encrypts a secret for one context.
   *
   * @returns a text without white space.
   * @throws provider_unavailable reason `vault_misconfigured` or `vault_unreachable`.
   */
  abstract seal(secret: Secret, context: VaultContext): Promise<string>;

  /**
   * Decrypts a secret sealed for the same context.
   *
   * @throws provider_unavailable reason `secret_undecryptable` (this blob only), `vault_misconfigured` or
   * `vault_unreachable` (see `VaultUnreachable`).
   */
  abstract open(blob: string, context: VaultContext): Promise<Secret>;

  /** True when the blob was sealed with an older key version: resealing it allows retiring that version. */
  abstract needsRewrap(blob: string): boolean;

  /** The versions of its key; one where the vault does not distinguish them. */
  get keys(): readonly VaultKey[] {
    const seal = (secret: Secret, context: VaultContext) => this.seal(secret, context);
    const open = (blob: string, context: VaultContext) => this.open(blob, context);
    return [{ version: 0, isCurrent: true, variable: 'The key of the vault', seal, open, owns: () => true }];
  }

  /** Closes the vault's connections, if any. */
  async close(): Promise<void> {}
}

/** Replaces a vault that cannot be created, so that everything that needs no provider key keeps working. */
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

  override get keys(): readonly VaultKey[] {
    return [];
  }
}

/**
 * The remote key service gave no usable answer; the blob may be valid. Only after this error may a cached secret be
 * served past its lifetime.
 */
export class VaultUnreachable extends GatewayError {
  /** @param detail for the log: without address, token or body. */
  constructor(readonly detail: string) {
    super('provider_unavailable', { reason: 'vault_unreachable' });
    this.name = 'VaultUnreachable';
  }
}

/** One stored blob cannot be opened: wrong context, damaged, or sealed with a missing key. */
export function secretUndecryptable(): GatewayError {
  return new GatewayError('provider_unavailable', { reason: 'secret_undecryptable' });
}

/** The vault cannot be used as it is configured. */
export function vaultMisconfigured(): GatewayError {
  return new GatewayError('provider_unavailable', { reason: 'vault_misconfigured' });
}
