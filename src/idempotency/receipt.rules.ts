import { createHash, timingSafeEqual } from 'node:crypto';
import { isInForce } from '../common/credential-lifetime.rules.js';
import type { IdempotencyPair } from './idempotency-headers.rules.js';
import type { CreationKind, Receipt, ReceiptClaim } from './receipt.js';

const SECOND_MS = 1000;

/**
 * How long an answer with a key is given out again, in milliseconds.
 *
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
export const KEY_REPLAY_MS = 15 * 60 * SECOND_MS;
/** How long a receipt is kept, in milliseconds. Source: docs/reference/management-api.md#idempotent-creation. */
export const RECEIPT_LIFE_MS = 90 * 24 * 60 * 60 * SECOND_MS;

/** Who asks for a creation, as a management route has proven them. */
interface Requester {
  readonly organizationId: string;
  readonly identityId: string;
  readonly credentialId: string;
}

/** What is asked: the body as parsed, before it is judged. */
interface CreationRequest {
  readonly kind: CreationKind;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** What a receipt means for a request that names its key. */
export type ReceiptStanding =
  | 'wrong_proof'
  | 'changed_request'
  | 'key_unavailable'
  | 'answer_expired'
  | 'sealed_answer'
  | 'plain_answer';

/**
 * What a request with an idempotency key claims. The credential is noted and decides nothing: a retry may use another
 * one of the same identity.
 *
 * The proof is part of the digest of the request. A body can hold a provider's key, and whoever reads the table must
 * not be able to try keys against the digest.
 *
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
export function receiptClaim(who: Requester, pair: IdempotencyPair, request: CreationRequest): ReceiptClaim {
  const { organizationId, identityId, credentialId } = who;
  const { kind, method, path, body } = request;
  const proof = pair.proof.reveal();
  return {
    id: sha256(canonicalJson([organizationId, identityId, kind, pair.key])),
    organizationId,
    identityId,
    credentialId,
    kind,
    proof: pair.proof,
    proofHash: sha256(proof),
    requestHash: sha256(canonicalJson({ proof, method, path, body })),
  };
}

/**
 * What a request gets that names the key of a receipt, in this order: the proof, the request, the
 * key, the time.
 *
 * @param now `isKeyActive`: the created key, if there is one, still opens its application; `nowMs` since the epoch.
 */
export function receiptStanding(
  receipt: Receipt,
  claim: Pick<ReceiptClaim, 'proofHash' | 'requestHash'>,
  now: { readonly isKeyActive: boolean; readonly nowMs: number },
): ReceiptStanding {
  if (!isSameHash(receipt.proofHash, claim.proofHash)) return 'wrong_proof';
  if (!isSameHash(receipt.requestHash, claim.requestHash)) return 'changed_request';
  if (receipt.ids.keyId === undefined) return 'plain_answer';
  if (!now.isKeyActive) return 'key_unavailable';
  const { sealedAnswer, sealedUntil } = receipt;
  const isShown =
    sealedAnswer !== null && sealedUntil !== null && isInForce(sealedUntil.getTime(), KEY_REPLAY_MS, now.nowMs);
  return isShown ? 'sealed_answer' : 'answer_expired';
}

/**
 * JSON text in which the order of members says nothing: they are sorted by name, at every depth. A number that is too
 * large for a double stands in it as no JSON would have it, so that it is not taken for null.
 *
 * @param value what a JSON text can hold.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  let members = '';
  for (const name of Object.keys(value).sort()) {
    members += `${members && ','}${JSON.stringify(name)}:${canonicalJson(Reflect.get(value, name))}`;
  }
  return `{${members}}`;
}

function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, 'hex'), Buffer.from(other, 'hex')];
  return a.length === b.length && timingSafeEqual(a, b);
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
