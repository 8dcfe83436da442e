import type { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import type { LiveInstance } from './instances.repository.js';
import { isOther } from './rivals.rules.js';

/** So long marks may differ: whoever finds a Redis emptied leaves a new one, and all tell it with their next sign of life. */
export const MARK_SETTLE_MS = 2_000;

/**
 * Whether this instance counts in the same Redis as the others. It may find out that it does not long after its start:
 * its Redis did not answer then, or its address leads elsewhere now.
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

  /** Some instance counts elsewhere: nobody may count in Redis. */
  get isApart(): boolean {
    return this.told;
  }

  /** This instance is the one that is wrong: the one that has lived the longest uses another Redis. */
  get isElsewhere(): boolean {
    const { own, others } = this;
    return this.told && own !== undefined && others.some((other) => isOlder(other, own));
  }

  /** @param live the instances that live, this one included. */
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
