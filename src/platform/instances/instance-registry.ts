import { hostname } from 'node:os';
import type { Clock } from '../../common/clock.js';
import { errorCode } from '../../common/errors/error-code.js';
import type { Log } from '../../common/log/log.js';
import { ownMark } from '../database/process-mark.js';
import type { RedisConnection } from '../redis/redis-connection.js';
import { type InstancesRepository, LEASE_MS, type LiveInstance } from './instances.repository.js';

/** How often an instance gives a sign of life. */
const BEAT_MS = 700;
/** An instance that has been unable to for so long stops what only one that lives may do: before others count it out. */
const FENCE_MS = LEASE_MS - 800;

export interface InstanceRegistryOptions {
  /** Letters and digits; also names the journal of this process. */
  readonly id: string;
  readonly instances: InstancesRepository;
  readonly usesRedis: boolean;
  readonly redis: RedisConnection;
  readonly clock: Clock;
  readonly log: Log;
}

type BeatListener = () => void;

/**
 * Tells the other instances that this one lives, and knows which do. Counts and budgets are shared among those that
 * live; one that could not tell the others for {@link FENCE_MS} must not go on as if it were known to them.
 *
 * Source: decision 4.8.
 */
export class InstanceRegistry {
  private known: readonly LiveInstance[] = [];
  private confirmedAtMs = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<void> | undefined;
  private unconfirmedSinceMs: number | undefined;
  private closed = false;
  private readonly listeners = new Set<BeatListener>();

  constructor(private readonly options: InstanceRegistryOptions) {}

  get id(): string {
    return this.options.id;
  }

  /** The instances that live, this one included, by id; as of the last sign of life that was heard. */
  get live(): readonly LiveInstance[] {
    return this.known;
  }

  /** No other instance lives. */
  get isAlone(): boolean {
    return this.known.every(({ id }) => id === this.options.id);
  }

  /** The others know that this instance lives, and will for a while. Always so where no other may be. */
  get isConfirmed(): boolean {
    return !this.options.usesRedis || this.options.clock.monotonicMs() - this.confirmedAtMs < FENCE_MS;
  }

  /** Enters this instance among those that live and keeps it there. @throws Error where the database cannot be had. */
  async announce(): Promise<void> {
    const { id, instances, usesRedis } = this.options;
    await instances.add({ id, host: hostname(), mark: ownMark(), usesRedis });
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
    this.beating ??= this.renew().finally(() => {
      this.beating = undefined;
    });
    return this.beating;
  }

  /** Leaves: the others need not wait for this instance. Never rejects. */
  async leave(): Promise<void> {
    this.closed = true;
    clearTimeout(this.timer);
    await this.beating;
    await this.options.instances.remove(this.options.id).catch(() => undefined);
  }

  private beatLater(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => void this.beat().then(() => this.beatLater()), BEAT_MS);
    this.timer.unref();
  }

  private async renew(): Promise<void> {
    const { id, instances, redis, clock } = this.options;
    const askedAtMs = clock.monotonicMs();
    try {
      const live = await instances.renew(id, redis.state === 'ok');
      if (!live.some((one) => one.id === id)) await this.enterAgain();
      this.hear(live, askedAtMs);
    } catch (error) {
      this.miss(error);
    }
  }

  /** Others took this instance for dead, because it could not be heard: what it shared with them is gone. */
  private async enterAgain(): Promise<void> {
    const { id, instances, usesRedis } = this.options;
    await instances.add({ id, host: hostname(), mark: ownMark(), usesRedis });
  }

  private hear(live: readonly LiveInstance[], askedAtMs: number): void {
    const { log, clock } = this.options;
    const before = this.known.map(({ id }) => id).join();
    this.known = live;
    this.confirmedAtMs = askedAtMs;
    if (live.map(({ id }) => id).join() !== before) log.event('instances_changed', { instances: live.length });
    if (this.unconfirmedSinceMs !== undefined) {
      log.event('instance_confirmed', { lostMs: Math.round(clock.monotonicMs() - this.unconfirmedSinceMs) });
      this.unconfirmedSinceMs = undefined;
    }
    for (const listener of this.listeners) listener();
  }

  private miss(error: unknown): void {
    const { log, clock } = this.options;
    if (this.closed || this.unconfirmedSinceMs !== undefined) return;
    this.unconfirmedSinceMs = clock.monotonicMs();
    log.event('instance_unconfirmed', { error: errorCode(error) ?? String(error) });
  }
}
