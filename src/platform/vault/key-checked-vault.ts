import type { Secret } from '../../common/log/secret.js';
import type { VaultContext } from './sealed-blob.rules.js';
import { Vault, type VaultKey, vaultMisconfigured } from './vault.js';

/** A vault that seals nothing while one of its keys is not the one that sealed the stored secrets. */
export class KeyCheckedVault extends Vault {
  readonly #unfit = new Set<number>();

  constructor(private readonly vault: Vault) {
    super();
  }

  get state(): Vault['state'] {
    return this.#unfit.size > 0 ? 'misconfigured' : this.vault.state;
  }

  /** @returns whether this is a change. */
  judge({ version }: VaultKey, isFit: boolean): boolean {
    const wasFit = !this.#unfit.has(version);
    if (isFit) this.#unfit.delete(version);
    else this.#unfit.add(version);
    return wasFit !== isFit;
  }

  override get keys(): readonly VaultKey[] {
    return this.vault.keys;
  }

  async seal(secret: Secret, context: VaultContext): Promise<string> {
    if (this.#unfit.size > 0) throw vaultMisconfigured();
    return this.vault.seal(secret, context);
  }

  open(blob: string, context: VaultContext): Promise<Secret> {
    return this.vault.open(blob, context);
  }

  needsRewrap(blob: string): boolean {
    return this.vault.needsRewrap(blob);
  }

  override close(): Promise<void> {
    return this.vault.close();
  }
}
