import { createHmac, createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Ids } from '../../common/ids.js';
import type { Secret } from '../../common/log/secret.js';
import { AuthSecrets } from '../../platform/secrets/signing-secrets.js';
import { IV_BYTES, openText, sealText } from '../../platform/vault/sealed-blob.rules.js';

const KEY_BYTES = 32;

/** Use of a sealed text; a text that is sealed for one purpose cannot be opened for another. */
type SealPurpose = 'user code' | 'result';

/**
 * Seals what an operation reveals later, under keys derived from `AUTH_SECRET`. Sealed texts and codes stay valid
 * through one rotation of the secret.
 *
 * Source: docs/reference/security.md#vault (HKDF-SHA256, RFC 5869).
 */
@Injectable()
export class OperationSeals {
  constructor(
    private readonly secrets: AuthSecrets,
    private readonly ids: Ids,
  ) {}

  /** @param operationId bound to the sealed text. */
  seal(purpose: SealPurpose, operationId: string, text: Secret): string {
    const key = derivedKey(this.secrets.current, purpose);
    return sealText(key, this.ids.bytes(IV_BYTES), text, contextOf(purpose, operationId));
  }

  /** The text; `undefined` when no current secret opens it. */
  open(purpose: SealPurpose, operationId: string, sealed: string): Secret | undefined {
    for (const secret of [this.secrets.current, this.secrets.previous]) {
      const opened = secret && openText(derivedKey(secret, purpose), sealed, contextOf(purpose, operationId));
      if (opened !== undefined) return opened;
    }
    return undefined;
  }

  /** The form in which a new user code is stored and looked up. */
  userCodeMac(code: Secret): string {
    return macOf(this.secrets.current, code);
  }

  /** The forms in which a user code may be stored: under the current secret, and under the previous one. */
  userCodeMacs(code: Secret): readonly string[] {
    const { current, previous } = this.secrets;
    return previous === undefined ? [macOf(current, code)] : [macOf(current, code), macOf(previous, code)];
  }
}

function macOf(secret: Secret, code: Secret): string {
  const key = createSecretKey(derivedBytes(secret, 'user code look-up'));
  return createHmac('sha256', key).update(code.reveal()).digest('hex');
}

function derivedKey(secret: Secret, purpose: SealPurpose): KeyObject {
  return createSecretKey(derivedBytes(secret, purpose));
}

function derivedBytes(secret: Secret, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret.reveal(), '', `gateway cli operation: ${purpose}`, KEY_BYTES));
}

function contextOf(purpose: SealPurpose, operationId: string): Readonly<Record<string, string>> {
  return { purpose: `cli operation ${purpose}`, operation: operationId };
}
