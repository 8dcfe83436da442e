import type { Ids } from '../../common/ids.js';
import type { RedisConnection } from './redis-connection.js';

const MARK_KEY = 'gw:mark';
const MARK_LENGTH = 20;
/** Equals the longest lifetime of the other keys. Renewed with each read. */
const MARK_LIFE_MS = 3 * 86_400_000;

/**
 * A random text that identifies one Redis: instances that read different marks use different ones. An instance that
 * finds no mark, because Redis is new or was flushed, writes one.
 */
export class RedisIdentity {
  constructor(
    private readonly redis: RedisConnection,
    private readonly ids: Ids,
  ) {}

  /** @returns undefined when Redis does not answer in time. Never rejects. */
  async read(): Promise<string | undefined> {
    const mark = await this.redis.run(async (client) => {
      const [known] = await Promise.all([client.get(MARK_KEY), client.pexpire(MARK_KEY, MARK_LIFE_MS)]);
      if (known !== null) return known;
      await client.set(MARK_KEY, this.ids.base36(MARK_LENGTH), 'PX', MARK_LIFE_MS, 'NX');
      return client.get(MARK_KEY);
    });
    return mark ?? undefined;
  }
}
