/** What one call costs the measured process, over the rounds of a closed loop. */
import { number } from './report.mjs';
import { median } from './statistics.mjs';

/** The columns that {@link costCells} fills. */
export const COST_COLUMNS = ['calls/s', 'CPU us', 'least', 'most', 'failed'];

/** CPU of one call of a run, microseconds. */
export function costUs({ completed, cpuSeconds }) {
  return (1e6 * cpuSeconds) / completed;
}

/** Medians of the rounds, and the least and the most of them. */
export function costCells(runs) {
  const costsUs = runs.map(costUs);
  return [
    number(median(runs.map(({ completed, seconds }) => completed / seconds))),
    number(median(costsUs), 1),
    number(Math.min(...costsUs), 1),
    number(Math.max(...costsUs), 1),
    runs.reduce((sum, { failed }) => sum + failed, 0),
  ];
}
