import { type Instant, instantOf } from '../common/clock.js';
import type { RetentionDays } from '../platform/retention/retention-step.js';
import { EVENT_DAYS } from '../usage/reports/usage-range.rules.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Days after which totals by day become totals by month. Source: specification "Retention". */
const DAY_TOTAL_DAYS = 400;
/** When the nightly work begins: 03:17 UTC. Source: decision 7.2. */
const NIGHTLY_AT_MS = (3 * 60 + 17) * 60 * 1000;

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

/** Counts 03:17 UTC since the epoch. */
function nightOf(epochMs: number): number {
  return Math.floor((epochMs - NIGHTLY_AT_MS) / DAY_MS);
}

function dayOf(epochMs: number): string {
  return instantOf(epochMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
