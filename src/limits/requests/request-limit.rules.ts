import { wholeSecondsUntil } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';

/**
 * Lengths of the request windows, which are fixed and aligned to UTC.
 *
 * Source: docs/reference/application-api.md#request-limits.
 */
export const WINDOW_MS = { minute: 60_000, day: 86_400_000 } as const;

export type WindowKind = keyof typeof WINDOW_MS;

export type LimitScope = 'user' | 'app';

/** `Retry-After` when all counters are in use: idle users are evicted by then. */
const FULL_RETRY_SECONDS = 60;

/** `Retry-After` when the counts are unknown. */
const UNKNOWN_RETRY_SECONDS = 1;

/** Number of the window that contains an instant. */
export function windowIndex(kind: WindowKind, nowMs: number): number {
  return Math.floor(nowMs / WINDOW_MS[kind]);
}

/**
 * Share of the remaining requests that one instance may admit when each instance counts for itself. The shares add up
 * to the remainder; an instance that assumes a smaller remainder gets no larger share.
 *
 * @param remaining remainder of the limit when the sharing began; below 0 counts as 0.
 * @param instances number of sharing instances, 1 or more.
 * @param rank of this instance, from 0.
 */
export function shareOf(remaining: number, instances: number, rank: number): number {
  return Math.max(0, Math.floor((remaining + instances - 1 - rank) / instances));
}

/**
 * Refusal of a call beyond a limit: 429 `app_rate_limited` with `{scope}` and nothing else.
 *
 * @param index number of the full window.
 * @param nowMs determines `Retry-After`: whole seconds to the end of the window, at least 1.
 * Source: docs/reference/application-api.md#limit-refusals, docs/reference/accounting.md#order-of-admission.
 */
export function requestLimitRefusal(
  scope: LimitScope,
  kind: WindowKind,
  { limit, index, nowMs }: { readonly limit: number; readonly index: number; readonly nowMs: number },
): GatewayError {
  const endMs = (index + 1) * WINDOW_MS[kind];
  const retryAfterSeconds = wholeSecondsUntil(endMs, nowMs);
  const whose = scope === 'user' ? 'one user of this application' : 'this application';
  const per = kind === 'minute' ? 'per minute' : 'per UTC day';
  const requests = limit === 1 ? '1 request' : `${limit} requests`;
  return new GatewayError('app_rate_limited', {
    message: `The limit of ${requests} ${per} for ${whose} is reached; try again in ${retryAfterSeconds} s.`,
    reason: `${scope}_${kind}_limit_reached`,
    data: { scope },
    retryAfterSeconds,
  });
}

/**
 * Refusal of a limited call while the counts are unknown: 503 `service_unavailable`. The limits fail closed.
 *
 * @param cause for the log.
 * Source: docs/reference/accounting.md#several-instances, docs/reference/application-api.md#request-limits.
 */
export function countsUnknown(cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', {
    reason: 'request_counts_unknown',
    retryAfterSeconds: UNKNOWN_RETRY_SECONDS,
    cause,
  });
}

/**
 * Refusal of a new user or application when this instance has its maximum number of counters: 503
 * `service_unavailable`.
 *
 * Source: docs/reference/application-api.md#request-limits, docs/reference/security.md#bounded-work.
 */
export function countersFull(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'Too many concurrent users; try again in a minute.',
    reason: 'request_counters_full',
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });
}
