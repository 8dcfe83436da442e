import { instantOf } from '../../common/clock.js';

/** A billing month of an account: from a day of the calendar month to the same day of the next, UTC. */
export interface PlanPeriod {
  /** First day, `YYYY-MM-DD`; also the period's id. */
  readonly startDay: string;
  /** Milliseconds since the Unix epoch. */
  readonly startMs: number;
  /** Exclusive end, milliseconds since the Unix epoch. */
  readonly endMs: number;
}

/**
 * The period that contains an instant.
 *
 * @param anchorDay day of the month on which periods begin, 1 to 28.
 */
export function periodAt(nowMs: number, anchorDay: number): PlanPeriod {
  const start = instantOf(nowMs);
  start.setUTCHours(0, 0, 0, 0);
  if (start.getUTCDate() < anchorDay) start.setUTCMonth(start.getUTCMonth() - 1, anchorDay);
  else start.setUTCDate(anchorDay);
  const end = instantOf(start.getTime());
  end.setUTCMonth(end.getUTCMonth() + 1);
  return {
    startDay: start.toISOString().slice(0, 'YYYY-MM-DD'.length),
    startMs: start.getTime(),
    endMs: end.getTime(),
  };
}
