import { type Instant, instantOf } from '../common/clock.js';
import { EVENT_DAYS } from '../usage/recording/usage-range.rules.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * How long the rows of each table are kept, in days. Rows that name a user share the days of usage
 * events, except those of webhooks, which end earlier (ADR 0034).
 *
 * Source: docs/reference/accounting.md#nightly-work.
 */
const KEPT_DAYS = {
  authEvents: EVENT_DAYS,
  deviceKeys: EVENT_DAYS,
  invitations: EVENT_DAYS,
  auditEvents: EVENT_DAYS,
  managementKeys: EVENT_DAYS,
  usageEvents: EVENT_DAYS,
  userBudgets: EVENT_DAYS,
  limitCounts: EVENT_DAYS,
  users: EVENT_DAYS,
  webhookEvents: 30,
  /** Sums by day, and spending by month of applications. */
  dayTotals: 400,
} as const;

/**
 * The first day of each table that is kept; older rows are deleted or summed up. UTC days, `YYYY-MM-DD`; `dayTotals` is
 * the first of a month.
 */
export type RetentionDays = Readonly<Record<keyof typeof KEPT_DAYS, string>>;

/** Start of retention: 03:17 UTC. Source: docs/reference/accounting.md#nightly-work. */
const NIGHTLY_AT_MS = (3 * 60 + 17) * 60 * 1000;
/** The month of a partition by its name. */
const PARTITION_OF_MONTH = /^usage_events_(\d{4})_(\d{2})$/;

/**
 * The earlier of two clock readings: a clock that is ahead must not delete rows early.
 *
 * @param nowMs both in milliseconds since the epoch.
 */
export function believedNow(nowMs: number, databaseNowMs: number): Instant {
  return instantOf(Math.min(nowMs, databaseNowMs));
}

/** The retention days for a trusted time. */
export function retentionDays(now: Instant): RetentionDays {
  const first = (days: number) => dayOf(now.getTime() - days * DAY_MS);
  const { dayTotals, ...tables } = KEPT_DAYS;
  const days = Object.fromEntries(Object.entries(tables).map(([table, kept]) => [table, first(kept)]));
  const month = first(dayTotals).slice(0, 'YYYY-MM'.length);
  return { ...(days as Record<keyof typeof tables, string>), dayTotals: `${month}-01` };
}

/**
 * True when 03:17 UTC lies between two clock checks. A clock that was set forward, or a machine that slept, passes it
 * as well; one that was set back passes it again.
 *
 * @param fromMs the last check, exclusive; milliseconds since the epoch.
 * @param toMs this check, inclusive.
 */
export function passesNightlyTime(fromMs: number, toMs: number): boolean {
  return nightOf(toMs) > nightOf(fromMs);
}

/**
 * The partitions of `usage_events` that hold only events before a day. `usage_events_2026_11` holds the UTC month
 * 2026-11; tables with other names hold any events.
 *
 * @param before UTC day, `YYYY-MM-DD`.
 */
export function oldPartitions(tables: readonly string[], before: string): string[] {
  return tables.filter((table) => {
    const [, year, month] = PARTITION_OF_MONTH.exec(table) ?? [];
    return year !== undefined && month !== undefined && firstDayAfter(Number(year), Number(month)) <= before;
  });
}

/** Counts 03:17 UTC since the epoch. */
function nightOf(epochMs: number): number {
  return Math.floor((epochMs - NIGHTLY_AT_MS) / DAY_MS);
}

function dayOf(epochMs: number): string {
  return instantOf(epochMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function firstDayAfter(year: number, month: number): string {
  const [nextYear, nextMonth] = month === 12 ? [year + 1, 1] : [year, month + 1];
  return `${String(nextYear).padStart(4, '0')}-${String(nextMonth).padStart(2, '0')}-01`;
}
