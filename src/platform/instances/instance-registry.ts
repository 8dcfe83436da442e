import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/clock.js';
import { errorText } from '../../common/errors/error-text.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import type { Log } from '../../common/log/log.js';
import type { SharedClock } from '../clock/shared-clock.js';
import { EnvironmentError } from '../config/environment.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import type { RedisIdentity } from '../redis/redis-identity.js';
import { firstRenewed, incompatibilityMessage } from './compatibility.rules.js';
import { type InstancesRepository, LEASE_MS, type LiveInstance } from './instances.repository.js';
import { ownProcess } from './own-process.js';
import { MARK_SETTLE_MS, RedisAgreement } from './redis-agreement.js';

/** Heartbeat interval. */
const HEARTBEAT_MS = 700;
/**
 * After this long without a successful heartbeat an instance stops acting on shared state, before its lease expires.
 */
const FENCE_MS = LEASE_MS - 800;
/** Interval at which a starting instance checks the heartbeats of a conflicting one. */
const CHECK_MS = 200;
/** How long a start waits for Redis to answer, so that its mark is known. */
const REDIS_START_MS = 1_200;
const REDIS_CHECK_MS = 10;

export interface InstanceRegistryOptions {
  /** Letters and digits; also names the journal of this process. */
  readonly id: string;
  readonly instances: InstancesRepository;
  readonly usesRedis: boolean;
  readonly redis: RedisConnection;
  readonly redisMark: RedisIdentity;
  /** Must run in real time: the lease expires by the database's clock. */
  readonly clock: Clock;
  /** Receives the database time with each heartbeat, and requests one when its time becomes unknown. */
  readonly sharedClock: SharedClock;
  readonly log: Log;
  /** Where this instance is reached, as `host:port`. */
  readonly listensAt: () => readonly string[];
  /** `INTERNAL_URL` of this instance; absent: the others do not ask it anything. */
  readonly internalUrl?: string | undefined;
}

type HeartbeatListener = () => void;

/**
 * Renews this instance's lease and lists the live instances. Counts and budgets are shared among the live instances; an
 * instance without a successful heartbeat for {@link FENCE_MS} must not use its share.
 *
 * Log lines: instances_changed, instance_unconfirmed, instance_confirmed, instance_waiting. Source: ADR 0019.
 */
export class InstanceRegistry {
  private liveInstances: readonly LiveInstance[] = [];
  private confirmedAtMs = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private renewal: Promise<void> | undefined;
  private unconfirmedSinceMs: number | undefined;
  private lease: 'starting' | 'held' | 'released' = 'starting';
  /** An incompatible instance acquired a lease after this one's had expired. */
  private displaced = false;
  private acquisitions = 0;
  private readonly listeners = new Set<HeartbeatListener>();
  private readonly agreement: RedisAgreement;

  constructor(private readonly options: InstanceRegistryOptions) {
    this.agreement = new RedisAgreement(options.clock, options.log);
    options.sharedClock.onJump(() => void this.heartbeat());
  }

  get id(): string {
    return this.options.id;
  }

  /** The live instances, this one included, by id, as of the last successful heartbeat. */
  get live(): readonly LiveInstance[] {
    return this.liveInstances;
  }

  /**
   * How often this instance tried to acquire its lease. An increase after the start means that the lease had expired,
   * even if this machine's clock, which stops during sleep, measured less time.
   */
  get leaseAcquisitions(): number {
    return this.acquisitions;
  }

  get isAlone(): boolean {
    return this.liveInstances.every(({ id }) => id === this.options.id);
  }

  /**
   * True while the lease is certain to hold. Without Redis no other instance may be live, so it holds until another
   * instance has displaced this one.
   */
  get isConfirmed(): boolean {
    const { usesRedis, clock } = this.options;
    return usesRedis ? clock.monotonicMs() - this.confirmedAtMs < FENCE_MS : !this.displaced;
  }

  /** Redis answers this instance, and all instances use the same Redis. */
  get sharesRedis(): boolean {
    return this.options.redis.state === 'ok' && !this.agreement.differs;
  }

  /** This instance uses another Redis than the others. */
  get isInOtherRedis(): boolean {
    return this.agreement.isOnOther;
  }

  /**
   * Acquires the lease and starts the heartbeats. A conflicting instance may be dead: its lease then expires within
   * {@link LEASE_MS}.
   *
   * @throws EnvironmentError when another instance is live and one of the two has no Redis, or both use different ones;
   * Error when the database is unavailable.
   */
  async acquire(): Promise<void> {
    const { clock, redis } = this.options;
    const startedAtMs = clock.monotonicMs();
    while (redis.state === 'lost' && clock.monotonicMs() - startedAtMs < REDIS_START_MS) await sleep(REDIS_CHECK_MS);
    const firstCheckMs = clock.monotonicMs();
    const firstSeenAt = new Map<string, string>();
    for (;;) {
      const conflicting = await this.tryAcquire();
      const [conflict] = conflicting;
      if (conflict === undefined) break;
      const renewed = firstRenewed(conflicting, firstSeenAt);
      // Marks of one Redis differ for a moment after a flush of Redis.
      const mayAgree =
        this.options.usesRedis && conflict.usesRedis && clock.monotonicMs() - firstCheckMs < MARK_SETTLE_MS;
      if (renewed !== undefined && !mayAgree)
        throw new EnvironmentError(incompatibilityMessage(renewed, this.options.usesRedis));
      if (firstSeenAt.size === 0)
        this.options.log.event('instance_waiting', { host: conflict.host, pid: conflict.pid });
      for (const { id, seenAt } of conflicting) firstSeenAt.set(id, seenAt);
      await sleep(CHECK_MS);
    }
    this.lease = 'held';
    await this.heartbeat();
    this.scheduleHeartbeat();
  }

  /** Calls `listener` after each successful heartbeat. @returns unsubscribes. */
  onHeartbeat(listener: HeartbeatListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Sends a heartbeat now. Never rejects. */
  heartbeat(): Promise<void> {
    if (this.lease !== 'held') return Promise.resolve();
    this.renewal ??= this.renew().finally(() => {
      this.renewal = undefined;
    });
    return this.renewal;
  }

  /** Releases the lease. Never rejects. */
  async release(): Promise<void> {
    const wasHeld = this.lease === 'held';
    this.lease = 'released';
    clearTimeout(this.timer);
    await this.renewal;
    if (wasHeld) await this.options.instances.release(this.options.id).catch(() => undefined);
  }

  private scheduleHeartbeat(): void {
    if (this.lease !== 'held') return;
    this.timer = setTimeout(() => void this.heartbeat().then(() => this.scheduleHeartbeat()), HEARTBEAT_MS);
    this.timer.unref();
  }

  private async renew(): Promise<void> {
    try {
      if (await this.renewed()) return;
      // The lease had expired: this instance's share of counts and budgets is lost.
      const [conflict] = await this.tryAcquire();
      this.displaced = conflict !== undefined;
      if (conflict !== undefined) throw new Error(incompatibilityMessage(conflict, this.options.usesRedis));
      await this.renewed();
    } catch (error) {
      this.fail(error);
    }
  }

  /** @returns false when the lease had expired. */
  private async renewed(): Promise<boolean> {
    const { id, instances, clock, sharedClock, listensAt } = this.options;
    const redisMark = await this.markNow();
    const sentAtMs = clock.monotonicMs();
    const before = sharedClock.read();
    const clockAheadMs = Math.round(sharedClock.ownAheadMs);
    const heartbeat = { redisAnswers: this.sharesRedis, redisMark, clockAheadMs, listensAt: listensAt() };
    const { live, databaseNowMs } = await instances.renew(id, heartbeat);
    if (databaseNowMs !== undefined) sharedClock.adopt(before, databaseNowMs);
    if (!live.some((one) => one.id === id)) return false;
    this.confirm(live, sentAtMs);
    return true;
  }

  private async tryAcquire() {
    const { id, instances, usesRedis, internalUrl = null } = this.options;
    const redisMark = await this.markNow();
    this.acquisitions++;
    return instances.acquire({ id, process: ownProcess(), usesRedis, redisMark, internalUrl });
  }

  private async markNow(): Promise<string | null> {
    return (await this.options.redisMark.read()) ?? null;
  }

  private confirm(live: readonly LiveInstance[], sentAtMs: number): void {
    const { log, clock } = this.options;
    const idsBefore = this.liveInstances.map(({ id }) => id).join();
    this.liveInstances = live;
    this.confirmedAtMs = sentAtMs;
    this.displaced = false;
    this.agreement.update(this.options.id, live);
    if (live.map(({ id }) => id).join() !== idsBefore) log.event('instances_changed', { instances: live.length });
    if (this.unconfirmedSinceMs !== undefined) {
      log.event('instance_confirmed', { lostMs: Math.round(clock.monotonicMs() - this.unconfirmedSinceMs) });
      this.unconfirmedSinceMs = undefined;
    }
    for (const listener of this.listeners) listener();
  }

  private fail(error: unknown): void {
    const { log, clock } = this.options;
    if (this.lease === 'released' || this.unconfirmedSinceMs !== undefined) return;
    this.unconfirmedSinceMs = clock.monotonicMs();
    const message = errorText(error);
    log.event('instance_unconfirmed', { error: systemErrorCode(error) ?? message });
  }
}
