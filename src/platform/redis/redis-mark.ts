import type { Ids } from '../../common/ids.js';
import type { RedisConnection } from './redis-connection.js';

const MARK_KEY = 'gw:mark';
const MARK_LENGTH = 20;
/** As long as anything else is kept there. Renewed with each look. */
const MARK_LIFE_MS = 3 * 86_400_000;

/**
 * A random text that marks one Redis: all who use it read the same, all who use another one read another. Whoever finds
 * none there, because it is new or was emptied, leaves one.
 */
export class RedisMark {
  constructor(
    private readonly redis: RedisConnection,
    private readonly ids: Ids,
  ) {}

  /** @returns undefined where Redis does not answer in time. Never rejects. */
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
