import { Injectable } from '@nestjs/common';
import { Clock } from '../../../common/clock.js';
import { Ids } from '../../../common/ids.js';
import { InstanceRegistry } from '../../../platform/instances/instance-registry.js';
import { RedisConnection } from '../../../platform/redis/redis-connection.js';
import { DayBases, takeBaseAsFloor, takeBaseHere } from '../counts/day-bases.js';
import { RequestCounters } from '../counts/request-counters.js';
import type { MinuteBases } from '../counts/scope-counts.js';
import { LocalCounting } from '../places/local-counting.js';
import { RedisCounting } from '../places/redis-counting.js';
import type { RequestCounting } from '../places/request-counting.js';
import { RecordedRequests } from '../recorded-requests.js';
import { type EpochView, LimitEpochsRepository } from './limit-epochs.repository.js';

/** Where this instance counts in one epoch, and what it has counted. */
export interface CountingPlace {
  readonly epoch: number;
  readonly counting: RequestCounting;
  readonly counters: RequestCounters;
}

/** What a place tells and asks while it counts. */
export interface PlaceEvents {
  /** Throws `EpochOver` where the place may count no longer. */
  readonly requireCurrent: () => void;
  readonly onLost: () => void;
  readonly onForgotten: () => void;
}

/** Makes the places in which requests are counted. */
@Injectable()
export class CountingPlaces {
  constructor(
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly redis: RedisConnection,
    private readonly instances: InstanceRegistry,
    private readonly recorded: RecordedRequests,
    private readonly epochs: LimitEpochsRepository,
  ) {}

  /** The place of an instance that counts alone, and tells nobody. */
  alone(): CountingPlace {
    const counters = new RequestCounters(false);
    const counting = new LocalCounting({
      clock: this.clock,
      counters,
      dayBases: new DayBases(this.recorded, takeBaseHere),
      minuteBases: () => 0,
      instances: 1,
      rank: 0,
    });
    return { epoch: 0, counting, counters };
  }

  /** The place of this instance in an epoch that it counts in. */
  inEpoch(view: EpochView, minuteBases: MinuteBases, events: PlaceEvents): CountingPlace {
    const counters = new RequestCounters(view.countedIn === 'instances');
    const counting =
      view.countedIn === 'redis'
        ? this.inRedis(view, counters, minuteBases, events)
        : this.onInstances(view, counters, minuteBases, events);
    return { epoch: view.epoch, counting, counters };
  }

  private inRedis(view: EpochView, counters: RequestCounters, minuteBases: MinuteBases, events: PlaceEvents) {
    const { clock, ids, redis } = this;
    const namespace = `${view.deployment}:${view.epoch}`;
    const dayBases = this.dayBasesOf(view, takeBaseAsFloor);
    return new RedisCounting({ clock, ids, redis, counters, dayBases, minuteBases, namespace, ...events });
  }

  private onInstances(
    view: EpochView,
    counters: RequestCounters,
    minuteBases: MinuteBases,
    { requireCurrent }: PlaceEvents,
  ) {
    return new LocalCounting({
      clock: this.clock,
      counters,
      dayBases: this.dayBasesOf(view, takeBaseHere),
      minuteBases,
      instances: view.members.length,
      rank: view.members.indexOf(this.instances.id),
      requireCurrent,
    });
  }

  private dayBasesOf({ epoch }: EpochView, take: typeof takeBaseHere): DayBases {
    return new DayBases(this.recorded, take, (appId, userId, windowStartMs, requests) =>
      this.epochs.agreeOnDay(epoch, { appId, userId, windowStartMs, requests }),
    );
  }
}
