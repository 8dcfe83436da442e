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

/** How often an instance gives a sign of life. */
const BEAT_MS = 700;
/** An instance that has been unable to for so long stops what only one that lives may do: before others count it out. */
const FENCE_MS = LEASE_MS - 800;
/** How often a start looks whether an instance in its way still gives signs of life. */
const LOOK_MS = 200;
/** How long a start waits for Redis to answer, so that it is known which one it is. */
const REDIS_START_MS = 1_200;
const REDIS_LOOK_MS = 10;

export interface InstanceRegistryOptions {
  /** Letters and digits; also names the journal of this process. */
  readonly id: string;
  readonly instances: InstancesRepository;
  readonly usesRedis: boolean;
  readonly redis: RedisConnection;
  readonly redisMark: RedisMark;
  /** Must go on by itself: a lease ends in the database's time. */
  readonly clock: Clock;
  /** Told of the database's time with each sign of life, and asks for one where it has lost it. */
  readonly sharedClock: SharedClock;
  readonly log: Log;
}

type BeatListener = () => void;

/**
 * Tells the other instances that this one lives, and knows which do. Counts and budgets are shared among those that
 * live; one that could not tell the others for {@link FENCE_MS} must not go on as if it were known to them.
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
  /** Another one was let in while this one gave no sign of life, and they cannot serve together. */
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

  /** The instances that live, this one included, by id; as of the last sign of life that was heard. */
  get live(): readonly LiveInstance[] {
    return this.known;
  }

  /**
   * How often this instance has entered: each time beyond the first, others had taken it for dead, however short that
   * seemed to it. The clock of a machine that sleeps stands still.
   */
  get timesEntered(): number {
    return this.entered;
  }

  /** No other instance lives. */
  get isAlone(): boolean {
    return this.known.every(({ id }) => id === this.options.id);
  }

  /**
   * The others know that this instance lives, and will for a while. Without Redis no other may live, so it is always
   * so; unless another was let in while this one could not be heard.
   */
  get isConfirmed(): boolean {
    const { usesRedis, clock } = this.options;
    return usesRedis ? clock.monotonicMs() - this.confirmedAtMs < FENCE_MS : !this.displaced;
  }

  /** Redis answers this instance, and is the same as everybody's. */
  get sharesRedis(): boolean {
    return this.options.redis.state === 'ok' && !this.agreement.isApart;
  }

  /** The Redis of this instance is not the one that the others count in. */
  get isInOtherRedis(): boolean {
    return this.agreement.isElsewhere;
  }

  /**
   * Enters this instance among those that live and keeps it there. One that gave a sign of life a moment ago may be
   * dead: that shows within the time of a lease.
   *
   * @throws EnvironmentError where another lives and one of the two has no Redis, or each another one; Error where the
   * database cannot be had.
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
      // Marks of one Redis differ for a moment after it was emptied.
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

  /** Calls `listener` after each sign of life that was heard. @returns ends that. */
  onBeat(listener: BeatListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Gives a sign of life now. Never rejects. */
  beat(): Promise<void> {
    if (this.state !== 'announced') return Promise.resolve();
    this.beating ??= this.renew().finally(() => {
      this.beating = undefined;
    });
    return this.beating;
  }

  /** Leaves: the others need not wait for this instance. Never rejects. */
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
      // Others took this instance for dead, because it could not be heard: what it shared with them is gone.
      const [rival] = await this.enter();
      this.displaced = rival !== undefined;
      if (rival !== undefined) throw new Error(refusalBeside(rival, this.options.usesRedis));
      await this.renewed();
    } catch (error) {
      this.miss(error);
    }
  }

  /** @returns whether this instance was still among those that live. */
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
