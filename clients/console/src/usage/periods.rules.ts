import type { Schemas } from '../api/client';

type Totals = Schemas['UsageTotalsResponse'];
type Bucket = Schemas['SeriesBucketResponse'];

/** What a chart shows. */
export type Measure = 'cost' | 'requests' | 'tokens' | 'errors' | 'refused';

/** UTC days of a report, both inclusive. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** The chosen days, and the length of the bars of their chart. */
export interface Period extends Days {
  /** `today`, a number of days, a month as `2026-01`, or `days` for any others. */
  readonly choice: string;
  readonly unit: 'day' | 'hour';
}

/** A day or hour of a chart: its start, and the measure of each series. */
interface ChartPoint {
  readonly start: string;
  readonly [series: string]: number | string;
}

export interface Chart {
  readonly points: readonly ChartPoint[];
  /** From the largest to the smallest; the last may sum up the rest. */
  readonly series: readonly string[];
  readonly total: number;
  /** The last point, if its day or hour is not over. */
  readonly unfinished: string | undefined;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MONTHS = 12;
/** More colours cannot be distinguished. */
const MOST_SERIES = 8;
export const OTHERS = 'all others';
const DEFAULT_CHOICE = '30';
const LAST_DAYS = ['7', '30', '90'];

const monthName = new Intl.DateTimeFormat('en', { month: 'long', year: 'numeric', timeZone: 'UTC' });

/** The last days up to now, as UTC dates `2026-01-31`. */
export function lastDays(days: number, nowMs: number): Days {
  return { from: dateOf(nowMs - (days - 1) * DAY_MS), to: dateOf(nowMs) };
}

/** The choices of a period: today, the last days, the last months, custom days. */
export function periodChoices(nowMs: number): readonly { readonly value: string; readonly label: string }[] {
  const now = new Date(nowMs);
  const months = Array.from({ length: MONTHS }, (_none, back) => {
    const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1));
    return { value: first.toISOString().slice(0, 'YYYY-MM'.length), label: monthName.format(first) };
  });
  return [
    { value: 'today', label: 'Today, by hour' },
    ...LAST_DAYS.map((days) => ({ value: days, label: `Last ${days} days` })),
    ...months,
    { value: 'days', label: 'Other days…' },
  ];
}

/** The period of an address; the last thirty days if it has none or an unknown one. */
export function periodOf(address: URLSearchParams, nowMs: number): Period {
  const today = dateOf(nowMs);
  const [from, to] = [address.get('from') ?? '', address.get('to') ?? ''];
  if (isDay(from) && isDay(to) && from <= to) return { choice: 'days', from, to, unit: 'day' };
  const choice = address.get('period') ?? DEFAULT_CHOICE;
  if (choice === 'today') return { choice, from: today, to: today, unit: 'hour' };
  if (isDay(`${choice}-01`)) {
    const first = new Date(`${choice}-01`);
    const last = dateOf(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0));
    const isOver = last < today || `${choice}-01` > today;
    return { choice, from: `${choice}-01`, to: isOver ? last : today, unit: 'day' };
  }
  const days = LAST_DAYS.includes(choice) ? choice : DEFAULT_CHOICE;
  return { choice: days, ...lastDays(Number(days), nowMs), unit: 'day' };
}

/** The text of an empty list or chart of a period: nothing new can appear in a past one. */
export function emptyText({ to }: Days, nowMs: number): string {
  return to < dateOf(nowMs)
    ? 'The period is over. Choose another one.'
    : 'Calls appear here within a second of their end.';
}

/** The measure of some usage. */
export function measureOf(usage: Totals, measure: Measure): number {
  if (measure === 'cost') return usage.cost_usd;
  if (measure === 'tokens') return tokensOf(usage);
  if (measure === 'errors') return usage.errors;
  return measure === 'refused' ? usage.blocked : usage.requests;
}

/** All tokens, cached ones included. */
export function tokensOf(usage: Totals): number {
  return usage.input_tokens + usage.cached_input_tokens + usage.cache_write_tokens + usage.output_tokens;
}

/** The share of failed calls among those that reached a provider; nothing without any. */
export function errorRateOf({ requests, blocked, errors }: Totals): number | undefined {
  return requests === blocked ? undefined : errors / (requests - blocked);
}

/** The change of a figure: `+12%`, compared with the previous period. */
export function changeText(now: number, before: number): string {
  if (before === 0) return now === 0 ? 'as before' : 'none in the period before';
  const percent = Math.round(((now - before) / before) * 100);
  if (percent === 0) return 'as before';
  return percent > 0 ? `+${percent}%` : `−${-percent}%`;
}

/** Buckets as points in order, those without usage included, and the series from the largest to the smallest. */
export function chartOf(buckets: readonly Bucket[], measure: Measure, period: Period, nowMs: number): Chart {
  const sums = new Map<string, number>();
  for (const bucket of buckets) sums.set(bucket.key, (sums.get(bucket.key) ?? 0) + measureOf(bucket, measure));
  const inOrder = [...sums].filter(([, sum]) => sum > 0).sort(([, a], [, b]) => b - a);
  const shown = inOrder.length > MOST_SERIES ? inOrder.slice(0, MOST_SERIES - 1) : inOrder;
  const names = new Set(shown.map(([name]) => name));
  const byStart = new Map<string, Map<string, number>>();
  for (const bucket of buckets) {
    const value = measureOf(bucket, measure);
    const series = names.has(bucket.key) ? bucket.key : OTHERS;
    const point = byStart.get(bucket.start) ?? new Map<string, number>();
    point.set(series, (point.get(series) ?? 0) + value);
    byStart.set(bucket.start, point);
  }
  const series = shown.length === inOrder.length ? [...names] : [...names, OTHERS];
  const starts = startsOf(period);
  const last = starts.at(-1);
  const isUnfinished = last !== undefined && Date.parse(last) + lengthOf(period) > nowMs;
  return {
    points: starts.map((start) => ({
      ...Object.fromEntries(series.map((name) => [name, byStart.get(start)?.get(name) ?? 0])),
      start,
    })),
    series,
    total: inOrder.reduce((sum, [, value]) => sum + value, 0),
    unfinished: isUnfinished ? starts.findLast((start) => Date.parse(start) <= nowMs) : undefined,
  };
}

/** The starts of the bars of a period, as the service writes them. */
function startsOf(period: Period): string[] {
  const startMs = Date.parse(period.from);
  const count = Math.round((Date.parse(period.to) + DAY_MS - startMs) / lengthOf(period));
  return Array.from({ length: count }, (_none, at) => {
    const start = new Date(startMs + at * lengthOf(period)).toISOString();
    return period.unit === 'hour' ? start.replace('.000Z', 'Z') : start.slice(0, 'YYYY-MM-DD'.length);
  });
}

function lengthOf({ unit }: Period): number {
  return unit === 'hour' ? HOUR_MS : DAY_MS;
}

/** Rows as CSV; texts that a spreadsheet would run as a formula start with an apostrophe. */
export function csvOf(header: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return [header, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n');
}

function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(text);
  return !Number.isNaN(ms) && dateOf(ms) === text;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
