import type { RedisConnection } from '../../../platform/redis/redis-connection.js';
import type { LimitEpochsRepository } from '../epochs/limit-epochs.repository.js';
import { counterNamespace, dayCounterKey } from './counter-keys.rules.js';

/** Counters per `MGET`. */
const BATCH_COUNTERS = 1_000;

/** The current counter backend, as seen from outside the instances. */
export interface StoredBackend {
  readonly epoch: number;
  readonly countedIn: 'redis' | 'instances' | 'undecided';
  /** Namespace of its counters. */
  readonly namespace: string;
  /** Milliseconds since its opening. */
  readonly openForMs: number;
}

/** Reads the request counters that instances share, for the ledger. */
export class CounterReader {
  constructor(
    private readonly epochs: LimitEpochsRepository,
    private readonly redis: RedisConnection,
  ) {}

  async backend(): Promise<StoredBackend> {
    const view = await this.epochs.read('');
    const shared = view.isOpen ? view.countedIn : 'undecided';
    const countedIn = this.redis.state === 'unused' ? 'instances' : shared;
    return { epoch: view.epoch, countedIn, namespace: counterNamespace(view), openForMs: view.openForMs };
  }

  /**
   * Counters of a UTC day in Redis.
   *
   * @param userIds the empty id is the whole application.
   * @returns stored texts by user, unparsed; users without a counter are absent.
   * @throws Error Redis does not answer.
   */
  async readDay(
    namespace: string,
    appId: string,
    userIds: readonly string[],
    dayStartMs: number,
  ): Promise<ReadonlyMap<string, string>> {
    const texts = new Map<string, string>();
    for (let from = 0; from < userIds.length; from += BATCH_COUNTERS) {
      const batch = userIds.slice(from, from + BATCH_COUNTERS);
      const keys = batch.map((userId) => dayCounterKey(namespace, appId, userId, dayStartMs));
      const answers = await this.redis.run((client) => client.mget(keys));
      if (answers === undefined) throw new Error('Redis does not answer');
      for (const [at, answer] of answers.entries()) {
        const userId = batch[at];
        if (answer !== null && userId !== undefined) texts.set(userId, answer);
      }
    }
    return texts;
  }
}
