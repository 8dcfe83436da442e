import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Secret } from '../common/log/secret.js';
import type { AuthSecrets } from '../platform/secrets/signing-secrets.js';
import {
  decrypt,
  encrypt,
  formatLocalBlob,
  parseLocalBlob,
  type VaultContext,
} from '../platform/vault/sealed-blob.rules.js';
import type { RecordClaim } from './creation.js';

const KEY_BYTES = 32;
const FORMAT_VERSION = 1;

type SealingClaim = Pick<RecordClaim, 'id' | 'proof' | 'proofHash'>;

/**
 * Seals an answer that holds a key. Opening it requires the client's proof and a secret of the service, so neither read
 * access to the table nor the secrets alone suffice.
 *
 * @param iv 12 random bytes, fresh for this call.
 * Source: docs/reference/management-api.md#idempotent-creation, docs/reference/security.md#vault.
 */
export function sealAnswer(answer: string, claim: SealingClaim, secrets: AuthSecrets, iv: Buffer): string {
  const key = sealingKey(claim, secrets.current);
  return formatLocalBlob({
    version: FORMAT_VERSION,
    ...encrypt(key, iv, Buffer.from(answer, 'utf8'), contextOf(claim)),
  });
}

/** The answer, also after one rotation of the secret; `undefined` when it does not open. */
export function openAnswer(sealed: string, claim: SealingClaim, secrets: AuthSecrets): string | undefined {
  const blob = parseLocalBlob(sealed);
  if (blob === undefined) return undefined;
  for (const secret of [secrets.current, secrets.previous]) {
    const opened = secret && decrypt(sealingKey(claim, secret), blob, contextOf(claim));
    if (opened !== undefined) return opened.toString('utf8');
  }
  return undefined;
}

/**
 * HKDF-SHA256 (RFC 5869). The proof is part of the input keying material and not the salt: a salt of more than 64 bytes
 * is replaced by its hash, and the table stores the hash of the proof.
 */
function sealingKey({ id, proof }: SealingClaim, secret: Secret): KeyObject {
  const input = JSON.stringify([secret.reveal(), proof.reveal()]);
  return createSecretKey(Buffer.from(hkdfSync('sha256', input, id, 'gateway creation record', KEY_BYTES)));
}

function contextOf({ id, proofHash }: SealingClaim): VaultContext {
  return { purpose: 'creation record', record: id, proof: proofHash };
}
