import type { Schemas } from '../api/client';

type Bucket = Schemas['UsageBucketResponse'];

/** What a chart shows. */
export type Measure = 'cost' | 'requests' | 'tokens';

/** A day of a chart: its date, and the measure of each series. */
export interface ChartDay {
  readonly date: string;
  readonly [series: string]: number | string;
}

const DAY_MS = 86_400_000;

/** The last days up to now, as UTC dates `2026-01-31`. */
export function lastDays(days: number, nowMs: number): { readonly from: string; readonly to: string } {
  return { from: dateOf(nowMs - (days - 1) * DAY_MS), to: dateOf(nowMs) };
}

/** The measure of a bucket. */
export function measureOf(
  { cost_usd, requests, input_tokens, output_tokens }: Omit<Bucket, 'date' | 'provider'>,
  measure: Measure,
): number {
  if (measure === 'cost') return cost_usd;
  return measure === 'requests' ? requests : input_tokens + output_tokens;
}

/** Buckets as days in order, days without usage included, and the series from the largest to the smallest. */
export function chartDays(
  buckets: readonly Bucket[],
  measure: Measure,
  { from, to }: { readonly from: string; readonly to: string },
): { readonly days: readonly ChartDay[]; readonly series: readonly string[] } {
  const sums = new Map<string, number>();
  const byDate = new Map<string, Record<string, number>>();
  for (const bucket of buckets) {
    const value = measureOf(bucket, measure);
    sums.set(bucket.provider, (sums.get(bucket.provider) ?? 0) + value);
    const date = bucket.date.slice(0, 10);
    const day = byDate.get(date) ?? {};
    day[bucket.provider] = (day[bucket.provider] ?? 0) + value;
    byDate.set(date, day);
  }
  const series = [...sums].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const days: ChartDay[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += DAY_MS) {
    const date = dateOf(at);
    days.push({ ...Object.fromEntries(series.map((name) => [name, byDate.get(date)?.[name] ?? 0])), date });
  }
  return { days, series };
}

/** Rows as comma-separated values; texts that a spreadsheet would run as a formula begin with an apostrophe. */
export function csvOf(header: readonly string[], rows: readonly (readonly (string | number | null)[])[]): string {
  return [header, ...rows].map((row) => row.map(csvCell).join(',')).join('\r\n');
}

function csvCell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
