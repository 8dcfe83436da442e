/**
 * States in which one instance counts requests, one counter backend and one epoch after another. {@link nextStep} says
 * what an instance does about the stored epoch, {@link EpochMachine} holds its state.
 *
 * ```mermaid
 * stateDiagram-v2
 *   [*] --> idle
 *   idle --> counting: count
 *   counting --> counting: count, the lease was renewed
 *   counting --> suspended: suspend, forget, next(another step than count)
 *   suspended --> suspended: forget
 *   suspended --> counting: count, unless Redis has forgotten
 *   suspended --> idle: enter
 *   idle --> left: leave
 *   counting --> left: leave
 *   suspended --> left: leave
 *   left --> left: enter, without counts
 * ```
 *
 * Other events change nothing. Events of a backend that is not the current one change nothing either, because its calls
 * may end after an epoch has. An instance whose lease may have expired stays in `counting`, but has no usable backend.
 */

/** Counter backend: Redis, shared by all instances, or each instance within its share. */
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

/** What an instance does with its counter backend, see {@link EpochMachine}. */
export type CountingState<B> =
  /** It has no counts. */
  | { readonly name: 'idle' }
  /** It counts, until its lease may expire; monotonic time. */
  | { readonly name: 'counting'; readonly backend: B; readonly validUntilMs: number }
  /** It does not count; its counts are not handed over yet. */
  | { readonly name: 'suspended'; readonly backend: B; readonly redisForgot: boolean }
  /** It has stopped for good; its counts may still have to be handed over. */
  | { readonly name: 'left'; readonly backend: B | undefined };

/** The state of one instance, with a method for each event. See the diagram at the head of this file. */
export class EpochMachine<B extends { readonly epoch: number }> {
  private state: CountingState<B> = { name: 'idle' };

  get current(): CountingState<B> {
    return this.state;
  }

  /** The backend whose counts are not handed over. */
  get held(): B | undefined {
    return this.state.name === 'idle' ? undefined : this.state.backend;
  }

  /** The backend that may count now. @param nowMs monotonic time. */
  usableAt(nowMs: number): B | undefined {
    const { state } = this;
    return state.name === 'counting' && nowMs < state.validUntilMs ? state.backend : undefined;
  }

  /** The stored epoch was read. Suspends counting unless it continues. */
  next(stored: EpochState, own: Omit<OwnState, 'redisForgot'>): EpochStep {
    const { state } = this;
    if (state.name === 'left') return { do: 'wait' };
    const redisForgot = state.name === 'suspended' && state.redisForgot && state.backend.epoch === stored.epoch;
    const step = nextStep(stored, { ...own, redisForgot });
    if (step.do !== 'count') this.suspend();
    return step;
  }

  /** The backend of an open epoch may count until a monotonic time. */
  count(backend: B, validUntilMs: number): void {
    const { state } = this;
    if (state.name === 'left') return;
    if (state.name === 'suspended' && state.redisForgot && state.backend === backend) return;
    this.state = { name: 'counting', backend, validUntilMs };
  }

  /** A backend must not count until the stored epoch was read again. @returns false for a backend of the past. */
  suspend(backend: B | undefined = this.held): boolean {
    const { state } = this;
    if (state.name === 'idle' || state.name === 'left' || state.backend !== backend) return false;
    if (state.name === 'counting') this.state = { name: 'suspended', backend, redisForgot: false };
    return true;
  }

  /** Redis has lost counts of a backend. @returns false for a backend of the past. */
  forget(backend: B): boolean {
    if (!this.suspend(backend)) return false;
    this.state = { name: 'suspended', backend, redisForgot: true };
    return true;
  }

  /** The counts are handed over and the instance has entered an epoch. */
  enter(): void {
    if (this.state.name === 'suspended') this.state = { name: 'idle' };
    else if (this.state.name === 'left') this.state = { name: 'left', backend: undefined };
  }

  leave(): void {
    this.state = { name: 'left', backend: this.held };
  }
}
