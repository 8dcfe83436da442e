/** Known requests of one scope on one UTC day. */
export interface ScopeRequests {
  /** Empty for the application itself. */
  readonly userId: string;
  /** Requests of stored events, without refusals. */
  readonly recorded: number;
  /** The part of `recorded` that began since the last configuration change; all of it when that was before the day. */
  readonly sinceChange: number;
  /**
   * The part of `recorded` that was open when counting began: counters start from stored counts and do not include it.
   */
  readonly unheard: number;
  /** Requests of the previous day that began so late that they may count on this day. */
  readonly fromBefore: number;
  /** Requests in a journal whose events are not stored. */
  readonly open: number;
  /** Requests that were counted and never sent. */
  readonly unsent: number;
  /** The count in `limit_counts` that instances have handed over or agreed on; undefined without a row. */
  readonly kept: number | undefined;
}

const INTEGER = /^-?\d+$/;

/**
 * Parses the stored text of a counter. @returns undefined when it is not an integer that Redis can increment exactly.
 */
export function parseCounter(text: string): number | undefined {
  const count = INTEGER.test(text) ? Number(text) : undefined;
  return Number.isSafeInteger(count) ? count : undefined;
}

/** Upper bound of a counter, from the known requests. */
export function countedAtMost({ recorded, open, unsent }: ScopeRequests): number {
  return recorded + open + unsent;
}

/**
 * Whether a counter has lost requests: every request is counted before its event is stored. Without a call since the
 * last configuration change the counters are not in force: the next call starts them from the recorded requests.
 *
 * @param requests read before the counter.
 */
export function isTooLow(counter: number, { recorded, sinceChange, unheard }: ScopeRequests): boolean {
  return sinceChange > 0 && counter < recorded - unheard;
}

/**
 * Whether a counter exceeds the requests made: every counted request is stored, open or noted as unsent shortly after.
 *
 * @param requests read after the counter.
 * @param elsewhere open requests of instances whose journals cannot be read here.
 */
export function isTooHigh(counter: number, requests: ScopeRequests, elsewhere: number): boolean {
  return counter > countedAtMost(requests) + requests.fromBefore + elsewhere;
}
