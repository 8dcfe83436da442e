import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { Ids } from '../../../common/ids.js';
import { StatementBatch } from '../../../platform/database/statement-batch.js';
import { InstanceRegistry } from '../../../platform/instances/instance-registry.js';
import { RedisConnection } from '../../../platform/redis/redis-connection.js';
import { RecordedRequests } from '../../../usage/recording/recorded-requests.service.js';
import { type ApplyBase, applyBaseAlone, applyBaseInRedis, applyBaseInShare, DayBases } from '../counts/day-bases.js';
import { RequestCounters, ScopeEviction } from '../counts/request-counters.js';
import type { MinuteBases } from '../counts/scope-counts.js';
import { byKey, carriedMinutes, handedCount, type UnreportedWindow } from '../epochs/handed-counts.rules.js';
import { type DayCount, type EpochView, LimitEpochsRepository } from '../epochs/limit-epochs.repository.js';
import type { LimitedCall, RequestCounting } from '../request-counting.js';
import { WINDOW_MS, windowIndex } from '../request-limit.rules.js';
import { StoredCountsRepository, type StoredDay } from '../stored/stored-counts.repository.js';
import { counterNamespace } from './counter-keys.rules.js';
import { LocalCounting } from './local-counting.js';
import { RedisCounting } from './redis-counting.js';

/** Where this instance counts in one epoch, with its counters. */
export interface CounterBackend {
  readonly epoch: number;
  readonly counting: RequestCounting;
  readonly counters: RequestCounters;
  /** Evicts idle counters. */
  readonly eviction: ScopeEviction;
}

/** Callbacks of a backend. */
export interface BackendEvents {
  /** Throws `EpochOver` when the backend must not count any more. */
  readonly requireCurrent: () => void;
  /** A call was counted but must not be sent, because the backend must not count any more. */
  readonly onUnsent: (call: LimitedCall) => void;
  readonly onLost: () => void;
  readonly onForgotten: () => void;
}

/** Creates counter backends. */
@Injectable()
export class CounterBackends {
  constructor(
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly redis: RedisConnection,
    private readonly instances: InstanceRegistry,
    private readonly recorded: RecordedRequests,
    private readonly epochs: LimitEpochsRepository,
    private readonly stored: StoredCountsRepository,
  ) {}

  /** Bases of minutes that may still run: their recorded requests, including those of a killed process. */
  async recordedMinutes(): Promise<MinuteBases> {
    const nowMs = this.clock.nowMs();
    const minutes = await this.recorded.listMinutes((windowIndex('minute', nowMs) - 1) * WINDOW_MS.minute);
    const counts = minutes.map(({ minuteStartMs: windowStartMs, ...whose }) => ({
      ...whose,
      windowMs: WINDOW_MS.minute,
      windowStartMs,
    }));
    return carriedMinutes({ counts, nowMs, unknownForMs: undefined });
  }

  /** The backend of an instance that counts alone; it stores only the counts of evicted scopes. */
  alone(minuteBases: MinuteBases): CounterBackend {
    // Counts that could not be stored stay in memory; a later call retries.
    const onCrowded = () => void eviction.run((windows) => this.store(windows)).catch(() => undefined);
    const counters = new RequestCounters({ onCrowded });
    const eviction = new ScopeEviction(counters, this.clock);
    const days = new StatementBatch((asked: readonly StoredDay[]) => this.stored.findDays(asked));
    const counting = new LocalCounting({
      clock: this.clock,
      counters,
      dayBases: new DayBases(this.recorded, applyBaseAlone, async (appId, userId, dayStartMs, recorded) =>
        counters.hasEvicted ? Math.max(recorded, await days.add({ appId, userId, dayStartMs })) : recorded,
      ),
      minuteBases,
      instances: 1,
      rank: 0,
    });
    return { epoch: 0, counting, counters, eviction };
  }

  /** The backend of this instance in an epoch that includes it. */
  inEpoch(view: EpochView, minuteBases: MinuteBases, events: BackendEvents): CounterBackend {
    const counters = new RequestCounters();
    const counting =
      view.countedIn === 'redis'
        ? this.inRedis(view, counters, minuteBases, events)
        : this.onInstances(view, counters, minuteBases, events);
    return { epoch: view.epoch, counting, counters, eviction: new ScopeEviction(counters, this.clock) };
  }

  private inRedis(view: EpochView, counters: RequestCounters, minuteBases: MinuteBases, events: BackendEvents) {
    const { clock, ids, redis } = this;
    const namespace = counterNamespace(view);
    const dayBases = this.dayBasesOf(view, applyBaseInRedis);
    return new RedisCounting({ clock, ids, redis, counters, dayBases, minuteBases, namespace, ...events });
  }

  private onInstances(
    view: EpochView,
    counters: RequestCounters,
    minuteBases: MinuteBases,
    { requireCurrent }: BackendEvents,
  ) {
    return new LocalCounting({
      clock: this.clock,
      counters,
      dayBases: this.dayBasesOf(
        view,
        applyBaseInShare(() => counters.hasEvicted),
      ),
      minuteBases,
      instances: view.members.length,
      rank: view.members.indexOf(this.instances.id),
      requireCurrent,
    });
  }

  private async store(windows: readonly UnreportedWindow[]): Promise<boolean> {
    await this.stored.add(windows.map((one) => handedCount(one, one.count)).sort(byKey));
    await this.epochs.prune(this.clock.nowMs());
    return true;
  }

  private dayBasesOf({ epoch }: EpochView, apply: ApplyBase): DayBases {
    const days = new StatementBatch((asked: readonly DayCount[]) => this.epochs.agreeOnDays(epoch, asked));
    return new DayBases(this.recorded, apply, (appId, userId, windowStartMs, requests) =>
      days.add({ appId, userId, windowStartMs, requests }),
    );
  }
}
