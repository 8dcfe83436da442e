import { type Instant, instantOf } from '../common/clock.js';
import { EVENT_DAYS } from '../usage/usage-range.rules.js';
import type { RetentionDays } from './retention-step.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Days after which totals by day become totals by month. Source: docs/reference/accounting.md#nightly-work. */
const DAY_TOTAL_DAYS = 400;
/** When the nightly work begins: 03:17 UTC. Source: docs/reference/accounting.md#nightly-work. */
const NIGHTLY_AT_MS = (3 * 60 + 17) * 60 * 1000;
/** The name of a partition says its month. */
const PARTITION_OF_MONTH = /^usage_events_(\d{4})_(\d{2})$/;

/**
 * The time, of the times that two clocks tell. The earlier one is believed: a clock that runs ahead must not delete what
 * no clock brings back.
 *
 * @param nowMs both in milliseconds since the epoch.
 */
export function believedNow(nowMs: number, databaseNowMs: number): Instant {
  return instantOf(Math.min(nowMs, databaseNowMs));
}

/** What stays, seen from a time that is believed. */
export function retentionDays(now: Instant): RetentionDays {
  const believedMs = now.getTime();
  const dayTotals = dayOf(believedMs - DAY_TOTAL_DAYS * DAY_MS);
  return { events: dayOf(believedMs - EVENT_DAYS * DAY_MS), dayTotals: `${dayTotals.slice(0, 'YYYY-MM'.length)}-01` };
}

/**
 * Whether it became 03:17 UTC after one look at the clock and not after the next one. A clock that was set forward, or
 * a machine that slept, passes it as well; one that was set back passes it when it gets there again.
 *
 * @param fromMs the last look, excluded; milliseconds since the epoch.
 * @param toMs this look, included.
 */
export function passesNightlyTime(fromMs: number, toMs: number): boolean {
  return nightOf(toMs) > nightOf(fromMs);
}

/**
 * Those of the tables below `usage_events` that hold nothing but events of before a day. `usage_events_2026_11` holds the
 * UTC month 2026-11; tables of other names hold whatever there is.
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
