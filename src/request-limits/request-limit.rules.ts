import { wholeSecondsUntil } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';

/**
 * Lengths of the windows in which requests are counted: fixed, in UTC.
 *
 * Source: docs/reference/application-api.md#request-limits.
 */
export const WINDOW_MS = { minute: 60_000, day: 86_400_000 } as const;

/** Which of the two windows. */
export type WindowKind = keyof typeof WINDOW_MS;

/** Whose requests are counted. */
export type LimitScope = 'user' | 'app';

/** Seconds after which users that nobody calls for any more have left. */
const FULL_RETRY_SECONDS = 60;

/** Seconds after which a call that could not be judged may come again. */
const UNKNOWN_RETRY_SECONDS = 1;

/** The number of the window an instant falls in. */
export function windowIndex(kind: WindowKind, nowMs: number): number {
  return Math.floor(nowMs / WINDOW_MS[kind]);
}

/**
 * How many of the requests that remain one instance may admit, where each counts for itself. The shares of all
 * instances add up to what remains; an instance that takes the number that remains for a smaller one gets no more.
 *
 * @param remaining of the limit when the sharing began; below 0 counts as 0.
 * @param instances that share, 1 or more.
 * @param rank of this instance among them, from 0.
 */
export function shareOf(remaining: number, instances: number, rank: number): number {
  return Math.max(0, Math.floor((remaining + instances - 1 - rank) / instances));
}

/**
 * The refusal of a call beyond a limit: 429 `app_rate_limited` with `{scope}` and nothing else.
 *
 * @param index of the window that is full.
 * @param nowMs decides `Retry-After`: whole seconds to the window's end, at least 1.
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
 * The answer to a call that is limited while nobody can tell how many there have been: 503 `service_unavailable`.
 *
 * @param cause kept for the log.
 * Source: docs/reference/accounting.md#several-instances, docs/reference/application-api.md#request-limits: rather no
 * call than one too many.
 */
export function countsUnknown(cause?: unknown): GatewayError {
  return new GatewayError('service_unavailable', {
    reason: 'request_counts_unknown',
    retryAfterSeconds: UNKNOWN_RETRY_SECONDS,
    cause,
  });
}

/**
 * The answer to the first call of a user or application while this instance counts for as many as it can keep: 503
 * `service_unavailable`.
 * Source: docs/reference/application-api.md#request-limits, docs/reference/security.md#bounded-work.
 */
export function countersFull(): GatewayError {
  return new GatewayError('service_unavailable', {
    message: 'Too many users are calling at once; try again in a minute.',
    reason: 'request_counters_full',
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });
}
