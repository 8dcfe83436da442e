import { createSecretKey } from 'node:crypto';
import type { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import type { KmsClient } from './kms-client.js';
import {
  boundContext,
  decrypt,
  encrypt,
  formatKmsBlob,
  IV_BYTES,
  parseKmsBlob,
  type VaultContext,
} from './sealed-blob.rules.js';
import { secretUndecryptable, Vault, VaultUnreachable } from './vault.js';

const DATA_KEY_BYTES = 32;

/**
 * Envelope encryption: every secret has its own data key, which only the remote service can unwrap. The secret never
 * leaves this process; the context is authenticated here and also sent to the service.
 */
export class KmsVault extends Vault {
  readonly state = 'ok';

  constructor(
    private readonly client: KmsClient,
    private readonly ids: Ids,
  ) {
    super();
  }

  async seal(secret: Secret, context: VaultContext): Promise<string> {
    const dataKey = this.ids.bytes(DATA_KEY_BYTES);
    const answer = await this.client.post('wrap', {
      plaintext: dataKey.toString('base64'),
      context: boundContext(context),
    });
    if (answer === 'rejected') throw new VaultUnreachable('the key service rejected wrap');
    const wrapped = memberText(answer.body, 'wrapped');
    if (!wrapped?.isWellFormed()) throw new VaultUnreachable('the key service answered wrap without "wrapped"');
    const plaintext = Buffer.from(secret.reveal(), 'utf8');
    const sealed = encrypt(createSecretKey(dataKey), this.ids.bytes(IV_BYTES), plaintext, context);
    return formatKmsBlob({ wrapped, ...sealed });
  }

  async open(blob: string, context: VaultContext): Promise<Secret> {
    const sealed = parseKmsBlob(blob);
    if (sealed === undefined) throw secretUndecryptable();
    const dataKey = await this.unwrap(sealed.wrapped, context);
    const plaintext = decrypt(createSecretKey(dataKey), sealed, context);
    if (plaintext === undefined) throw secretUndecryptable();
    return new Secret(plaintext.toString('utf8'));
  }

  /** The remote service manages the versions of its wrapping key. */
  needsRewrap(): boolean {
    return false;
  }

  override async close(): Promise<void> {
    await this.client.close();
  }

  private async unwrap(wrapped: string, context: VaultContext): Promise<Buffer> {
    const answer = await this.client.post('unwrap', { wrapped, context: boundContext(context) });
    if (answer === 'rejected') throw secretUndecryptable();
    const text = memberText(answer.body, 'plaintext') ?? '';
    const dataKey = Buffer.from(text, 'base64');
    if (dataKey.length !== DATA_KEY_BYTES || dataKey.toString('base64') !== text) {
      throw new VaultUnreachable('the key service answered unwrap without a 32-byte "plaintext"');
    }
    return dataKey;
  }
}

function memberText(body: unknown, name: string): string | undefined {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, name)) return undefined;
  const value: unknown = Reflect.get(body, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
