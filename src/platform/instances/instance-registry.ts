import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../common/clock.js';
import { errorCode } from '../../common/errors/error-code.js';
import type { Log } from '../../common/log/log.js';
import type { SharedClock } from '../clock/shared-clock.js';
import { EnvironmentError } from '../config/environment.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import type { RedisMark } from '../redis/redis-mark.js';
import { type InstancesRepository, LEASE_MS, type LiveInstance } from './instances.repository.js';
import { ownProcess } from './own-process.js';
import { MARK_SETTLE_MS, RedisAgreement } from './redis-agreement.js';
import { beatingOf, refusalBeside } from './rivals.rules.js';

/** Heartbeat interval. */
const BEAT_MS = 700;
/**
 * After this long without a successful heartbeat an instance stops acting on shared state, before its lease expires.
 */
const FENCE_MS = LEASE_MS - 800;
/** Interval at which a starting instance checks the heartbeats of a conflicting one. */
const LOOK_MS = 200;
/** How long a start waits for Redis to answer, so that its mark is known. */
const REDIS_START_MS = 1_200;
const REDIS_LOOK_MS = 10;

export interface InstanceRegistryOptions {
  /** Letters and digits; also names the journal of this process. */
  readonly id: string;
  readonly instances: InstancesRepository;
  readonly usesRedis: boolean;
  readonly redis: RedisConnection;
  readonly redisMark: RedisMark;
  /** Must run in real time: the lease expires by the database's clock. */
  readonly clock: Clock;
  /** Receives the database time with each heartbeat, and requests one when its time becomes unknown. */
  readonly sharedClock: SharedClock;
  readonly log: Log;
}

type BeatListener = () => void;

/**
 * Renews this instance's lease and lists the live instances. Counts and budgets are shared among the live instances; an
 * instance without a successful heartbeat for {@link FENCE_MS} must not use its share.
 *
 * Log lines: instances_changed, instance_unconfirmed, instance_confirmed, instance_waiting. Source: ADR 0019, ADR 0036.
 */
export class InstanceRegistry {
  private known: readonly LiveInstance[] = [];
  private confirmedAtMs = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<void> | undefined;
  private unconfirmedSinceMs: number | undefined;
  private state: 'unannounced' | 'announced' | 'left' = 'unannounced';
  /** An incompatible instance acquired a lease after this one's had expired. */
  private displaced = false;
  private entered = 0;
  private readonly listeners = new Set<BeatListener>();
  private readonly agreement: RedisAgreement;

  constructor(private readonly options: InstanceRegistryOptions) {
    this.agreement = new RedisAgreement(options.clock, options.log);
    options.sharedClock.onJump(() => void this.beat());
  }

  get id(): string {
    return this.options.id;
  }

  /** The live instances, this one included, by id, as of the last successful heartbeat. */
  get live(): readonly LiveInstance[] {
    return this.known;
  }

  /**
   * How often this instance tried to acquire its lease. An increase after the start means that the lease had expired,
   * even if this machine's clock, which stops during sleep, measured less time.
   */
  get timesEntered(): number {
    return this.entered;
  }

  get isAlone(): boolean {
    return this.known.every(({ id }) => id === this.options.id);
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
    return this.options.redis.state === 'ok' && !this.agreement.isApart;
  }

  /** This instance uses another Redis than the others. */
  get isInOtherRedis(): boolean {
    return this.agreement.isElsewhere;
  }

  /**
   * Acquires the lease and starts the heartbeats. A conflicting instance may be dead: its lease then expires within
   * {@link LEASE_MS}.
   *
   * @throws EnvironmentError when another instance is live and one of the two has no Redis, or both use different ones;
   * Error when the database is unavailable.
   */
  async announce(): Promise<void> {
    const { clock, redis } = this.options;
    const startedAtMs = clock.monotonicMs();
    while (redis.state === 'lost' && clock.monotonicMs() - startedAtMs < REDIS_START_MS) await sleep(REDIS_LOOK_MS);
    const lookedAtMs = clock.monotonicMs();
    const firstSeenAt = new Map<string, string>();
    for (;;) {
      const rivals = await this.enter();
      const [rival] = rivals;
      if (rival === undefined) break;
      const beating = beatingOf(rivals, firstSeenAt);
      // Marks of one Redis differ for a moment after a flush of Redis.
      const mayAgree = this.options.usesRedis && rival.usesRedis && clock.monotonicMs() - lookedAtMs < MARK_SETTLE_MS;
      if (beating !== undefined && !mayAgree)
        throw new EnvironmentError(refusalBeside(beating, this.options.usesRedis));
      if (firstSeenAt.size === 0) this.options.log.event('instance_waiting', { host: rival.host, pid: rival.pid });
      for (const { id, seenAt } of rivals) firstSeenAt.set(id, seenAt);
      await sleep(LOOK_MS);
    }
    this.state = 'announced';
    await this.beat();
    this.beatLater();
  }

  /** Calls `listener` after each successful heartbeat. @returns unsubscribes. */
  onBeat(listener: BeatListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Sends a heartbeat now. Never rejects. */
  beat(): Promise<void> {
    if (this.state !== 'announced') return Promise.resolve();
    this.beating ??= this.renew().finally(() => {
      this.beating = undefined;
    });
    return this.beating;
  }

  /** Releases the lease. Never rejects. */
  async leave(): Promise<void> {
    const wasAnnounced = this.state === 'announced';
    this.state = 'left';
    clearTimeout(this.timer);
    await this.beating;
    if (wasAnnounced) await this.options.instances.remove(this.options.id).catch(() => undefined);
  }

  private beatLater(): void {
    if (this.state !== 'announced') return;
    this.timer = setTimeout(() => void this.beat().then(() => this.beatLater()), BEAT_MS);
    this.timer.unref();
  }

  private async renew(): Promise<void> {
    try {
      if (await this.renewed()) return;
      // The lease had expired: this instance's share of counts and budgets is lost.
      const [rival] = await this.enter();
      this.displaced = rival !== undefined;
      if (rival !== undefined) throw new Error(refusalBeside(rival, this.options.usesRedis));
      await this.renewed();
    } catch (error) {
      this.miss(error);
    }
  }

  /** @returns false when the lease had expired. */
  private async renewed(): Promise<boolean> {
    const { id, instances, clock, sharedClock } = this.options;
    const redisMark = await this.markNow();
    const askedAtMs = clock.monotonicMs();
    const asked = sharedClock.read();
    const { live, databaseNowMs } = await instances.renew(id, { redisAnswers: this.sharesRedis, redisMark });
    if (databaseNowMs !== undefined) sharedClock.hear(asked, databaseNowMs);
    if (!live.some((one) => one.id === id)) return false;
    this.hear(live, askedAtMs);
    return true;
  }

  private async enter() {
    const { id, instances, usesRedis } = this.options;
    const redisMark = await this.markNow();
    this.entered++;
    return instances.enter({ id, process: ownProcess(), usesRedis, redisMark });
  }

  private async markNow(): Promise<string | null> {
    return (await this.options.redisMark.read()) ?? null;
  }

  private hear(live: readonly LiveInstance[], askedAtMs: number): void {
    const { log, clock } = this.options;
    const before = this.known.map(({ id }) => id).join();
    this.known = live;
    this.confirmedAtMs = askedAtMs;
    this.displaced = false;
    this.agreement.hear(this.options.id, live);
    if (live.map(({ id }) => id).join() !== before) log.event('instances_changed', { instances: live.length });
    if (this.unconfirmedSinceMs !== undefined) {
      log.event('instance_confirmed', { lostMs: Math.round(clock.monotonicMs() - this.unconfirmedSinceMs) });
      this.unconfirmedSinceMs = undefined;
    }
    for (const listener of this.listeners) listener();
  }

  private miss(error: unknown): void {
    const { log, clock } = this.options;
    if (this.state === 'left' || this.unconfirmedSinceMs !== undefined) return;
    this.unconfirmedSinceMs = clock.monotonicMs();
    const told = error instanceof Error ? error.message : String(error);
    log.event('instance_unconfirmed', { error: errorCode(error) ?? told });
  }
}
