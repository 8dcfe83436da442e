import type { Instant } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';

/** Source: docs/reference/security.md#sign-in. */
const RECENT_MINUTES = 15;

/**
 * Refuses a change of how a person signs in by a session that is not fresh, so that a session left open or stolen
 * cannot be used to keep access.
 *
 * @param signedInAt when the session was opened; `undefined` without one.
 * @throws forbidden
 */
export function requireRecentSignIn(signedInAt: Instant | undefined, nowMs: number): void {
  if (signedInAt !== undefined && nowMs - signedInAt.getTime() < RECENT_MINUTES * 60_000) return;
  throw new GatewayError('forbidden', {
    message: `Sign in again for this: your sign-in is older than ${RECENT_MINUTES} minutes.`,
    reason: 'sign_in_not_recent',
  });
}
