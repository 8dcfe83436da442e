/** Place of counting: Redis, shared by all instances, or each instance within its share. */
export type CountedIn = 'redis' | 'instances';

/** Reason of an epoch; `begun`: the first epoch, or the first after counting without Redis. */
export type EpochReason =
  | 'begun'
  | 'redis_lost'
  | 'redis_back'
  | 'redis_forgot'
  | 'instance_joined'
  | 'instance_returned';

/** The stored epoch, which all instances share. */
export interface EpochState {
  readonly epoch: number;
  readonly countedIn: CountedIn;
  /** Every instance that counted before has handed over its counts; counting may proceed. */
  readonly isOpen: boolean;
  /** Ids of the instances that count in it, as of its opening. */
  readonly members: readonly string[];
  /** Milliseconds since its opening; 0 before. */
  readonly openForMs: number;
}

/** State of this instance and of the others. */
export interface OwnState {
  readonly id: string;
  /** Its lease is valid. */
  readonly lives: boolean;
  /** The epoch that it has entered according to Postgres; 0 = none. */
  readonly enteredEpoch: number;
  /** It has admitted calls whose counts it has not handed over. */
  readonly hasCounts: boolean;
  readonly redisAnswers: boolean;
  /** Redis answers every live instance, including this one. */
  readonly redisAnswersAll: boolean;
  /** Redis has lost counts of this epoch. */
  readonly redisForgot: boolean;
}

/** Next step of an instance. */
export type EpochStep =
  | { readonly do: 'count' }
  /** Waits until the lease is valid again: an instance with an expired lease takes no part. */
  | { readonly do: 'wait' }
  /** Hands over its counts and enters the epoch. */
  | { readonly do: 'hand_over' }
  /** Enters the open epoch; it has no counts to hand over. */
  | { readonly do: 'enter' }
  | { readonly do: 'open' }
  | { readonly do: 'begin'; readonly countedIn: CountedIn; readonly reason: EpochReason };

/** Minimum age of an epoch before Redis is used again, so that an unstable Redis does not stop all counting. */
const REDIS_TRUST_MS = 1_000;

/**
 * Next step of an instance for the stored epoch.
 *
 * One epoch is prepared at a time. No instance counts until every live instance that has counted has handed over its
 * counts. Instances with an expired lease are not waited for.
 */
export function nextStep(state: EpochState, own: OwnState): EpochStep {
  if (!own.lives) return { do: 'wait' };
  if (!state.isOpen) return { do: own.enteredEpoch === state.epoch ? 'open' : 'hand_over' };
  const isEntered = own.enteredEpoch === state.epoch;
  return state.countedIn === 'redis' ? stepInRedis(isEntered, own) : stepOnInstances(isEntered, state, own);
}

function stepInRedis(isEntered: boolean, own: OwnState): EpochStep {
  if (!own.redisAnswers) return { do: 'begin', countedIn: 'instances', reason: 'redis_lost' };
  // Its earlier counts are missing in the counters of this epoch.
  if (!isEntered && own.hasCounts) return { do: 'begin', countedIn: 'redis', reason: 'instance_returned' };
  if (!isEntered) return { do: 'enter' };
  if (own.redisForgot) return { do: 'begin', countedIn: 'redis', reason: 'redis_forgot' };
  return { do: 'count' };
}

function stepOnInstances(isEntered: boolean, state: EpochState, own: OwnState): EpochStep {
  if (own.redisAnswersAll && state.openForMs >= REDIS_TRUST_MS) {
    return { do: 'begin', countedIn: 'redis', reason: 'redis_back' };
  }
  if (isEntered && state.members.includes(own.id)) return { do: 'count' };
  return { do: 'begin', countedIn: 'instances', reason: own.hasCounts ? 'instance_returned' : 'instance_joined' };
}
