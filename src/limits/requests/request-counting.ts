import type { MaybePromise } from '../../common/maybe-promise.js';
import { countsUnknown } from './request-limit.rules.js';

/** Request limits of one scope; null is unlimited. */
export interface RequestCounts {
  /** Per clock minute. */
  readonly perMinute: number | null;
  /** Per UTC day. */
  readonly perDay: number | null;
}

/** Input of the request limits. */
export interface LimitedCall {
  readonly organizationId: string;
  readonly appId: string;
  readonly userId: string | null;
  /** Limits of the calling user; undefined without limits or without a user. */
  readonly user: RequestCounts | undefined;
  /** Limits of the application; undefined without limits. */
  readonly app: RequestCounts | undefined;
}

/** Counts requests in one backend. Each method throws synchronously or rejects. */
export interface RequestCounting {
  /** Counts a call in all its windows, or in none. @throws app_rate_limited, service_unavailable, EpochOver. */
  admit(call: LimitedCall): MaybePromise<void>;
  /** Checks like `admit` without counting. */
  require(call: LimitedCall): MaybePromise<void>;
  /** Requests of the calling user on the current UTC day; 0 when they are not counted. */
  countToday(call: LimitedCall): MaybePromise<number>;
}

/** The backend must not count any more; the call is counted in the next one. Internal to this module. */
export class EpochOver extends Error {
  constructor() {
    super('requests are counted elsewhere now');
    this.name = 'EpochOver';
  }
}

/** Maximum wait of a call for counts. */
export const MAX_WAIT_MS = 1_000;

/**
 * Bounds a wait, in real time.
 *
 * @throws service_unavailable, in the promise, on timeout; the awaited work continues.
 * Source: docs/reference/security.md#dependency-failures.
 */
export function waitAtMost<T>(awaited: Promise<T>, ms = MAX_WAIT_MS): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(countsUnknown()), ms);
    void awaited.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
