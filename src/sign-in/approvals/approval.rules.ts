import type { PersonPrincipal } from '../../accounts/access/admin-principal.js';
import type { ValidSession } from '../../accounts/sessions/sessions.service.js';
import type { Instant } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** `expired` is computed: no statement has to run when a request expires. */
export type ApprovalState = 'pending' | 'completed' | 'denied' | 'expired';

/** A stored state, and the end of its pending time. */
export interface StoredState {
  readonly state: Exclude<ApprovalState, 'expired'>;
  readonly expiresAt: Instant;
}

const operationExpired = () => new GatewayError('operation_expired');

/** The current state; a pending request expires by itself. */
export function stateAt({ state, expiresAt }: StoredState, nowMs: number): ApprovalState {
  return state === 'pending' && expiresAt.getTime() <= nowMs ? 'expired' : state;
}

/**
 * Refuses a request that is not pending.
 *
 * @param expired the refusal of an expired one.
 * @throws operation_denied, operation_expired, already_completed.
 */
export function requirePending(request: StoredState, nowMs: number, expired = operationExpired): void {
  const state = stateAt(request, nowMs);
  if (state === 'denied') throw new GatewayError('operation_denied');
  if (state === 'expired') throw expired();
  if (state === 'completed') throw new GatewayError('already_completed');
}

/** The person of a session, in their current account. */
export function personOf({ row }: ValidSession): PersonPrincipal {
  return { identityId: row.identityId, sessionId: row.id, organizationId: row.organizationId };
}

/** @throws session_required with 401: nobody is signed in. */
export function requireSignedIn(session: ValidSession | undefined, action: 'allow' | 'approve'): PersonPrincipal {
  if (session !== undefined) return personOf(session);
  throw new GatewayError('session_required', {
    status: 401,
    message: `Sign in to ${action} this.`,
    reason: 'nobody_signed_in',
  });
}
