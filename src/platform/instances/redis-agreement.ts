import type { Clock } from '../../common/clock.js';
import type { Log } from '../../common/log/log.js';
import { isOther } from './compatibility.rules.js';
import type { LiveInstance } from './instances.repository.js';

/**
 * Marks may differ for this long: after a flush of Redis, one instance writes a new mark and the others report it with
 * their next heartbeat.
 */
export const MARK_SETTLE_MS = 2_000;

/**
 * Compares this instance's Redis with that of the others. A difference may appear long after the start: Redis did not
 * answer then, or its address has changed since.
 *
 * Log lines: redis_differs, redis_agrees. Source: ADR 0019.
 */
export class RedisAgreement {
  private differsSinceMs: number | undefined;
  private isReported = false;
  private others: readonly LiveInstance[] = [];
  private own: LiveInstance | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Some instance uses another Redis: no instance may count in Redis. */
  get differs(): boolean {
    return this.isReported;
  }

  /** An older instance uses another Redis, so this instance is the wrong one. */
  get isOnOther(): boolean {
    const { own, others } = this;
    return this.isReported && own !== undefined && others.some((other) => isOlder(other, own));
  }

  /** @param live the live instances, this one included. */
  update(ownId: string, live: readonly LiveInstance[]): void {
    this.own = live.find(({ id }) => id === ownId);
    const mark = this.own?.redisMark ?? null;
    this.others = live.filter(({ redisMark }) => isOther(mark, redisMark));
    const [other] = this.others;
    if (other === undefined) {
      this.differsSinceMs = undefined;
      if (this.isReported) this.log.event('redis_agrees', {});
      this.isReported = false;
      return;
    }
    const nowMs = this.clock.monotonicMs();
    this.differsSinceMs ??= nowMs;
    if (this.isReported || nowMs - this.differsSinceMs < MARK_SETTLE_MS) return;
    this.isReported = true;
    this.log.event('redis_differs', { host: other.host, pid: other.pid });
  }
}

function isOlder(one: LiveInstance, other: LiveInstance): boolean {
  return one.startedAtMs === other.startedAtMs ? one.id < other.id : one.startedAtMs < other.startedAtMs;
}
