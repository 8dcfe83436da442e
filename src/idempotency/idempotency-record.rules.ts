import { createHash, timingSafeEqual } from 'node:crypto';
import { isInForce } from '../common/credential-lifetime.rules.js';
import type { CreationKind, IdempotencyRecord, RecordClaim } from './creation.js';
import type { IdempotencyPair } from './idempotency-headers.rules.js';

const SECOND_MS = 1000;

/**
 * How long a response with a key is replayed, in milliseconds.
 *
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
export const KEY_REPLAY_MS = 15 * 60 * SECOND_MS;
/** Retention of records, in milliseconds. Source: docs/reference/management-api.md#idempotent-creation. */
export const RECORD_LIFE_MS = 90 * 24 * 60 * 60 * SECOND_MS;

/** The authenticated caller of a creation. */
interface Requester {
  readonly organizationId: string;
  readonly identityId: string;
  readonly credentialId: string;
}

/** The request of a creation: the body as parsed, before validation. */
interface CreationRequest {
  readonly kind: CreationKind;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** The result of matching a record with a request. */
export type RecordStanding =
  | 'wrong_proof'
  | 'changed_request'
  | 'key_unavailable'
  | 'answer_expired'
  | 'sealed_answer'
  | 'plain_answer';

/**
 * The claim of a request with an idempotency key. The credential is recorded, but a retry may use another credential of
 * the same identity.
 *
 * The request digest includes the proof: a body can hold a provider's key, and read access to the table must not allow
 * guessing keys against the digest.
 *
 * Source: docs/reference/management-api.md#idempotent-creation.
 */
export function recordClaim(who: Requester, pair: IdempotencyPair, request: CreationRequest): RecordClaim {
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
 * Matches a request with the record of its key, in this order: the proof, the request, the key, the time.
 *
 * @param now `isKeyActive`: the created key, if there is one, is still active; `nowMs` since the epoch.
 */
export function recordStanding(
  record: IdempotencyRecord,
  claim: Pick<RecordClaim, 'proofHash' | 'requestHash'>,
  now: { readonly isKeyActive: boolean; readonly nowMs: number },
): RecordStanding {
  if (!isSameHash(record.proofHash, claim.proofHash)) return 'wrong_proof';
  if (!isSameHash(record.requestHash, claim.requestHash)) return 'changed_request';
  if (record.ids.keyId === undefined) return 'plain_answer';
  if (!now.isKeyActive) return 'key_unavailable';
  const { sealedAnswer, sealedUntil } = record;
  const isShown =
    sealedAnswer !== null && sealedUntil !== null && isInForce(sealedUntil.getTime(), KEY_REPLAY_MS, now.nowMs);
  return isShown ? 'sealed_answer' : 'answer_expired';
}

/**
 * Canonical JSON text: members are sorted by name at every depth. A number beyond the range of a double appears as
 * `Infinity`, so that it differs from null.
 *
 * @param value a parsed JSON value.
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
