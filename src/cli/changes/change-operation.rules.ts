import { hash } from 'node:crypto';
import { canonicalJson } from '../../idempotency/idempotency-record.rules.js';
import { stateAt } from '../../sign-in/approvals/approval.rules.js';
import type { OperationResult } from '../operations/operation.rules.js';
import type { OperationRow } from '../operations/operations.repository.js';
import type { ChangeKind } from '../operations/resource-operations.js';

/** How long an identical earlier request is reported. Source: docs/reference/management-api.md#change-operations. */
export const NOTICE_MS = 60 * 60 * 1000;

/**
 * The state of the key that an operation issued: `none`, it issued none for the console; `held`, a person may reveal
 * it; `revealed`; `lapsed`, nobody did in time.
 */
export type KeyState = 'none' | 'held' | 'revealed' | 'lapsed';

/** The state of the key. A terminal gets its key itself, so the console treats it as none. */
export function keyStateAt(
  { actionSource, sealedUntil, deliveredAt }: Pick<OperationRow, 'actionSource' | 'sealedUntil' | 'deliveredAt'>,
  nowMs: number,
): KeyState {
  if (actionSource !== 'mcp' || sealedUntil === null) return 'none';
  if (deliveredAt !== null) return 'revealed';
  return sealedUntil.getTime() > nowMs ? 'held' : 'lapsed';
}

/** What the result of an operation says about the key that it issued. */
interface KeyFacts {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly appId: string;
  /** Undefined where the operation has only issued a key. */
  readonly appName: string | undefined;
  /** The key itself, where the result was revealed. */
  readonly key: string | undefined;
}

/** The facts of the issued key in a result; `undefined` when none was issued. */
export function keyFactsOf(result: OperationResult | null): KeyFacts | undefined {
  const { app, appId, api_key: issued } = (result ?? {}) as StoredKeyResult;
  if (issued === undefined) return undefined;
  const { id, name, key_prefix: prefix, key } = issued;
  return { id, name, prefix, key, appId: app?.id ?? appId ?? '', appName: app?.name };
}

/** The members that `ResourceOperations` and `PendingOperations` store. */
interface StoredKeyResult {
  readonly app?: { readonly id: string; readonly name: string };
  readonly appId?: string;
  readonly api_key?: { readonly id: string; readonly name: string; readonly key_prefix: string; readonly key?: string };
}

/** The state of an operation as the API returns it: a declined one counts as expired. */
export function shownStateAt(
  operation: Pick<OperationRow, 'state' | 'expiresAt'>,
  nowMs: number,
): { readonly state: 'pending' | 'completed' | 'expired'; readonly denied?: true } {
  const state = stateAt(operation, nowMs);
  return state === 'denied' ? { state: 'expired', denied: true } : { state };
}

/** A change that a member of an account requests. Its payload holds no secret. */
export interface ChangeRequest {
  readonly kind: ChangeKind;
  readonly payload: object;
  /** Of the sender; ignored when two requests are compared. */
  readonly address: string;
}

/** The sender of a change, by which identical requests are recognised. */
interface Sender {
  readonly organizationId: string;
  readonly identityId: string;
}

/**
 * Identifies a request: equal for identical requests of one member, whatever the order of their members.
 *
 * @returns SHA-256, hexadecimal.
 */
export function changeHashOf(
  { organizationId, identityId }: Sender,
  { kind, payload }: Pick<ChangeRequest, 'kind' | 'payload'>,
): string {
  return hash('sha256', canonicalJson({ kind, payload, organizationId, identityId }), 'hex');
}
