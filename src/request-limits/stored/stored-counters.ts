import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import type { LimitEpochsRepository } from '../epochs/limit-epochs.repository.js';
import { counterNamespace, dayCounterKey } from '../places/counter-keys.rules.js';

/** Counters that are asked for with one question. */
const BATCH_COUNTERS = 1_000;

/** Where requests are counted now, as whoever looks from outside can know it. */
export interface CountersPlace {
  readonly epoch: number;
  readonly countedIn: 'redis' | 'instances' | 'undecided';
  /** Names its counters. */
  readonly namespace: string;
  /** Milliseconds since it was opened. */
  readonly openForMs: number;
}

/** Reads the counters of requests that several instances share, for whoever checks them. */
export class StoredCounters {
  constructor(
    private readonly epochs: LimitEpochsRepository,
    private readonly redis: RedisConnection,
  ) {}

  async place(): Promise<CountersPlace> {
    const view = await this.epochs.read('');
    const shared = view.isOpen ? view.countedIn : 'undecided';
    const countedIn = this.redis.state === 'unused' ? 'instances' : shared;
    return { epoch: view.epoch, countedIn, namespace: counterNamespace(view), openForMs: view.openForMs };
  }

  /**
   * Counters of a UTC day in Redis.
   *
   * @param userIds the empty one is the application itself.
   * @returns by user; who has no counter is not in it.
   * @throws Error Redis does not answer, or has something else there.
   */
  async readDay(
    namespace: string,
    appId: string,
    userIds: readonly string[],
    dayStartMs: number,
  ): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>();
    for (let from = 0; from < userIds.length; from += BATCH_COUNTERS) {
      const batch = userIds.slice(from, from + BATCH_COUNTERS);
      const keys = batch.map((userId) => dayCounterKey(namespace, appId, userId, dayStartMs));
      const answers = await this.redis.run((client) => client.mget(keys));
      if (answers === undefined) throw new Error('Redis does not answer');
      for (const [at, answer] of answers.entries()) {
        const userId = batch[at];
        if (answer !== null && userId !== undefined) counts.set(userId, Number(answer));
      }
    }
    return counts;
  }
}
