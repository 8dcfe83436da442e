/** What is known of the requests of one scope on one UTC day. */
export interface ScopeRequests {
  /** Empty for the application itself. */
  readonly userId: string;
  /** Events that are stored and no refusals. */
  readonly recorded: number;
  /** Those of them that began since the application was last changed; all, where that was before the day. */
  readonly sinceChange: number;
  /** Those of them that ran when counting began: counters begin with what was stored, and never hear of these. */
  readonly unheard: number;
  /** Events of the day before that began so late that they may have been counted on this one. */
  readonly fromBefore: number;
  /** Requests that a journal holds and that are not stored. */
  readonly open: number;
  /** Requests that were counted and never sent. */
  readonly unsent: number;
  /** What instances have handed over and agreed on, in Postgres; undefined where they have not. */
  readonly kept: number | undefined;
}

/** What a counter should say at most, as far as is known here. */
export function countedAtMost({ recorded, open, unsent }: ScopeRequests): number {
  return recorded + open + unsent;
}

/**
 * Whether a counter has lost requests: every request is counted before its event is stored. Where nobody has called since
 * the application was changed, its counters are not in force: the next call begins them with what is recorded.
 *
 * @param requests read before the counter.
 */
export function isTooLow(counter: number, { recorded, sinceChange, unheard }: ScopeRequests): boolean {
  return sinceChange > 0 && counter < recorded - unheard;
}

/**
 * Whether a counter has more requests than were made: each that it had counted is stored, open or noted a moment later.
 *
 * @param requests read after the counter.
 * @param elsewhere requests that are open at instances whose journals cannot be read here.
 */
export function isTooHigh(counter: number, requests: ScopeRequests, elsewhere: number): boolean {
  return counter > countedAtMost(requests) + requests.fromBefore + elsewhere;
}
