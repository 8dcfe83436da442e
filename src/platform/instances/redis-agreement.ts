import type { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import type { LiveInstance } from './instances.repository.js';
import { isOther } from './rivals.rules.js';

/**
 * Marks may differ for this long: after a flush of Redis, one instance writes a new mark and the others report it with
 * their next heartbeat.
 */
export const MARK_SETTLE_MS = 2_000;

/**
 * Compares this instance's Redis with that of the others. A difference may appear long after the start: Redis did not
 * answer then, or its address has changed since.
 *
 * Log lines: redis_differs, redis_agrees. Source: ADR 0036.
 */
export class RedisAgreement {
  private apartSinceMs: number | undefined;
  private told = false;
  private others: readonly LiveInstance[] = [];
  private own: LiveInstance | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Some instance uses another Redis: no instance may count in Redis. */
  get isApart(): boolean {
    return this.told;
  }

  /** An older instance uses another Redis, so this instance is the wrong one. */
  get isElsewhere(): boolean {
    const { own, others } = this;
    return this.told && own !== undefined && others.some((other) => isOlder(other, own));
  }

  /** @param live the live instances, this one included. */
  hear(ownId: string, live: readonly LiveInstance[]): void {
    this.own = live.find(({ id }) => id === ownId);
    const mark = this.own?.redisMark ?? null;
    this.others = live.filter(({ redisMark }) => isOther(mark, redisMark));
    const [other] = this.others;
    if (other === undefined) {
      this.apartSinceMs = undefined;
      if (this.told) this.log.event('redis_agrees', {});
      this.told = false;
      return;
    }
    const nowMs = this.clock.monotonicMs();
    this.apartSinceMs ??= nowMs;
    if (this.told || nowMs - this.apartSinceMs < MARK_SETTLE_MS) return;
    this.told = true;
    this.log.event('redis_differs', { host: other.host, pid: other.pid });
  }
}

function isOlder(one: LiveInstance, other: LiveInstance): boolean {
  return one.startedAtMs === other.startedAtMs ? one.id < other.id : one.startedAtMs < other.startedAtMs;
}
