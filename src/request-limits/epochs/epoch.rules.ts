/** Where requests are counted: in Redis for all instances together, or on each instance within its share. */
export type CountedIn = 'redis' | 'instances';

/** Why an epoch was begun; `begun`: the first one, or one that follows counting without Redis. */
export type EpochReason =
  | 'begun'
  | 'redis_lost'
  | 'redis_back'
  | 'redis_forgot'
  | 'instance_joined'
  | 'instance_returned';

/** The stored epoch, as all instances see it. */
export interface EpochState {
  readonly epoch: number;
  readonly countedIn: CountedIn;
  /** Everybody who counted before has said what; counting may go on. */
  readonly isOpen: boolean;
  /** The instances that count in it, by id, when it was opened. */
  readonly members: readonly string[];
  /** Since it was opened; 0 before. */
  readonly openForMs: number;
}

/** What an instance knows of itself and of the others. */
export interface OwnState {
  readonly id: string;
  /** The others believe that it lives. */
  readonly lives: boolean;
  /** The epoch that the others believe its counts belong to; 0 = none. */
  readonly enteredEpoch: number;
  /** It admitted calls that it has told nobody of. */
  readonly hasCounts: boolean;
  readonly redisAnswers: boolean;
  /** Redis answers every instance that lives, this one included. */
  readonly redisAnswersAll: boolean;
  /** Redis was found not to know what it had counted in this epoch. */
  readonly redisForgot: boolean;
}

/** What an instance does next. */
export type EpochStep =
  | { readonly do: 'count' }
  /** Nothing, until the others know again that it lives: who is gone takes no part. */
  | { readonly do: 'wait' }
  /** Tells what it has counted, and that it follows this epoch. */
  | { readonly do: 'hand_over' }
  /** Says that it counts in this epoch, too: it has counted nothing that matters to it. */
  | { readonly do: 'enter' }
  | { readonly do: 'open' }
  | { readonly do: 'begin'; readonly countedIn: CountedIn; readonly reason: EpochReason };

/** An epoch lasts at least so long before Redis is trusted again: one that comes and goes must not stop all counting. */
const REDIS_TRUST_MS = 1_000;

/**
 * What an instance does on seeing the stored epoch.
 *
 * One epoch is put together at a time. Until all who live and have counted have handed over, nobody counts; whoever is
 * gone is not waited for.
 */
export function nextStep(state: EpochState, own: OwnState): EpochStep {
  if (!own.lives) return { do: 'wait' };
  if (!state.isOpen) return { do: own.enteredEpoch === state.epoch ? 'open' : 'hand_over' };
  const isEntered = own.enteredEpoch === state.epoch;
  return state.countedIn === 'redis' ? stepInRedis(isEntered, own) : stepOnInstances(isEntered, state, own);
}

function stepInRedis(isEntered: boolean, own: OwnState): EpochStep {
  if (!own.redisAnswers) return { do: 'begin', countedIn: 'instances', reason: 'redis_lost' };
  // What it counted before is missing in the counters of this epoch.
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
