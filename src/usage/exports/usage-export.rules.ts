import { createHash } from 'node:crypto';
import { dayStartMs, epochMsOf } from '../../common/clock.js';
import { daysBefore, isCalendarDay } from '../../common/day-range.rules.js';
import { invalidRequest } from '../../common/errors/gateway-error.js';
import { isTimestamp } from '../../common/timestamp.rules.js';
import type { UsageScope } from '../recording/usage-sums.repository.js';
import type { EventPlace, TimeRange } from '../reports/account-events.repository.js';
import type { ExportFormatName } from './export-formats.rules.js';

/** Length of the default period before the day of its end. */
const DEFAULT_DAYS_BEFORE = 29;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** More digits than the times and ids of events have, and few enough for Postgres. */
const CURSOR = /^(\d{1,15})\.(\d{1,15})\.(\d{1,16})\.(\d{1,18})\.([0-9a-f]{16})$/;
const CHECK_LENGTH = 16;

/** The period of an export as it was asked for: days or times; an absent bound has its default. */
export interface AskedPeriod {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** What an export contains. */
export interface ExportedUsage {
  readonly scope: UsageScope;
  readonly format: ExportFormatName;
  readonly range: TimeRange;
}

/**
 * Completes a period: `until` defaults to now, `since` to thirty days. A day is its start in UTC.
 *
 * @throws invalid_request naming `since` or `until`: neither a day nor a time, or `since` is after `until`.
 * Source: docs/reference/management-api.md#export-of-usage.
 */
export function periodOf({ since, until }: AskedPeriod, nowMs: number, today: string): TimeRange {
  const untilMs = until === undefined ? nowMs : timeOf('until', until);
  const lastDay = until === undefined ? today : until.slice(0, 'YYYY-MM-DD'.length);
  const fromMs = since === undefined ? dayStartMs(daysBefore(lastDay, DEFAULT_DAYS_BEFORE)) : timeOf('since', since);
  if (fromMs > untilMs) throw invalidRequest('since', 'must not be later than `until`');
  return { fromMs: Math.max(0, fromMs), untilMs: Math.max(0, untilMs) };
}

/** The cursor of the page after a place. It names the whole export, so that its pages cannot be of different ones. */
export function cursorOf(exported: ExportedUsage, { createdAtUs, id }: EventPlace): string {
  const { fromMs, untilMs } = exported.range;
  const place = `${fromMs}.${untilMs}.${createdAtUs}.${id}`;
  return `${place}.${checkOf(exported, place)}`;
}

/**
 * The period and the place that a cursor names. The place is one of the caller's own events, whatever the cursor says;
 * the check detects a cursor of another export, and a damaged one.
 *
 * @throws invalid_request it is not a cursor of an export of this account, application, format and period.
 */
export function readCursor(
  cursor: string,
  asked: Pick<ExportedUsage, 'scope' | 'format'> & AskedPeriod,
): { readonly range: TimeRange; readonly place: EventPlace } {
  const [, from = '', until = '', createdAtUs = '', id = '', check] = CURSOR.exec(cursor) ?? [];
  const range = { fromMs: Number(from), untilMs: Number(until) };
  const isOwn = check === checkOf({ ...asked, range }, `${from}.${until}.${createdAtUs}.${id}`);
  const isAsked =
    (asked.since === undefined || Math.max(0, timeOf('since', asked.since)) === range.fromMs) &&
    (asked.until === undefined || timeOf('until', asked.until) >= range.untilMs);
  if (!isOwn || !isAsked) throw invalidRequest('cursor', 'must be the X-Next-Cursor of a page of the same export');
  return { range, place: { createdAtUs, id } };
}

function checkOf({ scope: { organizationId, id }, format }: ExportedUsage, place: string): string {
  const named = JSON.stringify([organizationId, id, format, place]);
  return createHash('sha256').update(named).digest('hex').slice(0, CHECK_LENGTH);
}

function timeOf(name: 'since' | 'until', text: string): number {
  if (DAY.test(text) && isCalendarDay(text)) return dayStartMs(text);
  if (isTimestamp(text)) return epochMsOf(text);
  throw invalidRequest(name, 'must be a day such as 2026-01-31, or a time such as 2026-01-31T12:00:00Z');
}
