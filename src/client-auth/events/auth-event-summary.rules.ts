import type { Instant } from '../../common/clock.js';
import type { DayFailures } from '../../usage/reports/user-usage.service.js';
import {
  type AuthEventDayRow,
  type AuthEventKind,
  type ClaimDelayRow,
  type ProofCountRow,
  SUCCESS,
} from './auth-event.js';

const DATE_LENGTH = 'YYYY-MM-DD'.length;

/** UTC days, `YYYY-MM-DD`, both included. */
export interface DayWindow {
  readonly from: string;
  readonly to: string;
}

/** The number of attempts of one UTC day with the same result. */
export interface AuthEventDay {
  readonly date: string;
  readonly event: AuthEventKind;
  readonly outcome: string;
  readonly reason: string | null;
  readonly count: number;
}

export interface TokenExchanges {
  readonly total: number;
  readonly ok: number;
  /** 0 to 1; null without exchanges. */
  readonly success_rate: number | null;
}

/** Attempts of one kind with one proof, by what became of them. */
export interface ProofAttempts {
  readonly proof: string;
  readonly event: AuthEventKind;
  readonly ok: number;
  readonly would_reject: number;
  readonly refused: number;
}

/** In milliseconds; null without values. */
export interface ClaimDelay {
  readonly count: number;
  readonly avg_ms: number | null;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
}

/**
 * The days of a summary, up to and including today.
 *
 * @param days 1 or more.
 * Source: docs/reference/management-api.md#query-parameters-and-lists.
 */
export function daysUntil(today: Instant, days: number): DayWindow {
  const first = structuredClone(today);
  first.setUTCDate(first.getUTCDate() - (days - 1));
  return { from: dayOf(first), to: dayOf(today) };
}

function dayOf(at: Instant): string {
  return at.toISOString().slice(0, DATE_LENGTH);
}

/** The counts in the response shape, in the order of the rows. */
export function toDaily(rows: readonly AuthEventDayRow[]): AuthEventDay[] {
  return rows.map(({ date, event, outcome, reason, count }) => ({
    date,
    event,
    outcome,
    reason,
    count: Number(count),
  }));
}

export function toProofAttempts({ proof, event, ok, would_reject, refused }: ProofCountRow): ProofAttempts {
  return { proof, event, ok: Number(ok), would_reject: Number(would_reject), refused: Number(refused) };
}

/**
 * The success rate of token exchanges; registrations do not count.
 *
 * Source: docs/reference/management-api.md#authentication-events.
 */
export function toTokenExchanges(daily: readonly AuthEventDay[]): TokenExchanges {
  const exchanges = daily.filter(({ event }) => event === 'token_exchange');
  const total = sumOf(exchanges);
  const ok = sumOf(exchanges.filter(({ outcome }) => outcome === SUCCESS));
  return { total, ok, success_rate: total === 0 ? null : ok / total };
}

function sumOf(days: readonly AuthEventDay[]): number {
  return days.reduce((sum, { count }) => sum + count, 0);
}

/** @param row `undefined` when no claim was delayed. */
export function toClaimDelay(row: ClaimDelayRow | undefined): ClaimDelay {
  return {
    count: Number(row?.count ?? 0),
    avg_ms: toNumber(row?.avg_ms),
    p50_ms: toNumber(row?.p50_ms),
    p95_ms: toNumber(row?.p95_ms),
  };
}

function toNumber(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Number(text);
}

/** By date, then status. */
export function inOrder(failures: readonly DayFailures[]): DayFailures[] {
  const keyOf = ({ date, status }: DayFailures) => `${date} ${status}`;
  return failures.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}
