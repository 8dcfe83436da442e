import type { Schemas } from '../api/client';
import { durationText } from '../design/amounts.rules';
import { measureName, measureText } from './measures';
import { type Measure, measureOf } from './periods.rules';

/** Rows of one response; the CSV file has all. */
export const MOST_ROWS = 200;

type Breakdown = Pick<Schemas['AccountBreakdownResponse'], 'from' | 'complete_from' | 'total' | 'rows'>;

/** The total of the shares, and what it excludes. */
export function noteOf({ from, complete_from: known, total, rows }: Breakdown, measure: Measure): string {
  const all = `${measureText(measure)(measureOf(total, measure))}, all ${measureName(measure)}`;
  const notes = [
    known > from
      ? `Shares are of ${all} since ${known}; earlier days are no longer kept in this detail.`
      : `Shares are of ${all} of the period.`,
  ];
  if (rows.some(({ latency }) => latency !== null)) notes.push('Times are the median and the 95th percentile.');
  if (rows.length === MOST_ROWS) notes.push(`The ${MOST_ROWS} with the most requests; the CSV file has all.`);
  return notes.join(' ');
}

/** Median and 95th percentile, as `840 ms / 2.3 s`. */
export function timesText(times: Schemas['LatencyResponse'] | null): string {
  if (times === null || times.p50_ms === null || times.p95_ms === null) return '—';
  return `${durationText(times.p50_ms)} / ${durationText(times.p95_ms)}`;
}
