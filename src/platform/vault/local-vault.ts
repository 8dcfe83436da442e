import type { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { decrypt, encrypt, formatLocalBlob, IV_BYTES, parseLocalBlob, type VaultContext } from './sealed-blob.rules.js';
import { secretUndecryptable, Vault, type VaultKey } from './vault.js';
import { keyVariable, type LocalVaultSettings } from './vault-settings.rules.js';

/** Encrypts with the current key of an in-memory key ring; every key of the ring decrypts. */
export class LocalVault extends Vault {
  readonly state = 'ok';

  constructor(
    private readonly settings: LocalVaultSettings,
    private readonly ids: Ids,
  ) {
    super();
  }

  override get keys(): readonly VaultKey[] {
    return [...this.settings.keys.keys()].map((version) => ({
      version,
      isCurrent: version === this.settings.currentVersion,
      variable: keyVariable(version),
      seal: async (secret, context) => this.#sealWith(version, secret, context),
      open: (blob, context) => this.open(blob, context),
      owns: (blob) => parseLocalBlob(blob)?.version === version,
    }));
  }

  async seal(secret: Secret, context: VaultContext): Promise<string> {
    return this.#sealWith(this.settings.currentVersion, secret, context);
  }

  #sealWith(version: number, secret: Secret, context: VaultContext): string {
    const key = this.settings.keys.get(version);
    if (key === undefined) throw new Error('vault settings: the current version has no key');
    const plaintext = Buffer.from(secret.reveal(), 'utf8');
    return formatLocalBlob({ version, ...encrypt(key, this.ids.bytes(IV_BYTES), plaintext, context) });
  }

  async open(blob: string, context: VaultContext): Promise<Secret> {
    const sealed = parseLocalBlob(blob);
    const key = sealed && this.settings.keys.get(sealed.version);
    const plaintext = sealed && key && decrypt(key, sealed, context);
    if (plaintext === undefined) throw secretUndecryptable();
    return new Secret(plaintext.toString('utf8'));
  }

  needsRewrap(blob: string): boolean {
    const sealed = parseLocalBlob(blob);
    return sealed !== undefined && sealed.version < this.settings.currentVersion;
  }
}
