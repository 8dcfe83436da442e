import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import type { MaybePromise } from '../../common/maybe-promise.js';
import { ConfigChanges, EVERYTHING } from '../../platform/database/config-changes.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { Metrics } from '../../platform/metrics/metrics.js';
import { RedisConnection } from '../../platform/redis/redis-connection.js';
import type { RequestCounters } from './counts/request-counters.js';
import { LimitEpochs } from './epochs/limit-epochs.service.js';
import type { LimitedCall, RequestCounting } from './request-counting.js';
import { countsUnknown } from './request-limit.rules.js';
import { UnsentRequests } from './stored/unsent-requests.service.js';

/** Topic of {@link ConfigChanges} for applications; the key is the application id. */
const APPS_TOPIC = 'apps';

/**
 * Request limits of applications and of their users, by minute and by UTC day. A single instance counts in memory;
 * several instances count in Redis, or each in memory within its share.
 */
@Injectable()
export class RequestLimits implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly counting: RequestCounting;
  private readonly counters: () => RequestCounters | undefined;
  private readonly isShared: boolean;
  private readonly unsubscribe: () => void;

  constructor(
    redis: RedisConnection,
    configChanges: ConfigChanges,
    metrics: Metrics,
    private readonly epochs: LimitEpochs,
    private readonly instances: InstanceRegistry,
    private readonly unsent: UnsentRequests,
  ) {
    this.isShared = redis.state !== 'unused';
    const alone = epochs.alone();
    this.counting = this.isShared ? epochs : alone.counting;
    this.counters = this.isShared ? () => epochs.backend?.counters : () => alone.counters;
    metrics.limitsDegraded.read = () => (this.isShared && (epochs.isDegraded || redis.state === 'lost') ? 1 : 0);
    epochs.onUnsent = (call) => unsent.note(call);
    this.unsubscribe = configChanges.subscribe(APPS_TOPIC, (appId) => {
      if (appId === EVERYTHING) this.counters()?.everythingChanged();
      else this.counters()?.appChanged(appId);
    });
  }

  /** Runs before the server accepts calls. */
  async onApplicationBootstrap(): Promise<void> {
    await (this.isShared ? this.epochs.start() : this.epochs.startAlone());
  }

  /** Runs after the last call. */
  async onApplicationShutdown(): Promise<void> {
    this.unsubscribe();
    if (this.isShared) await this.epochs.leave();
    await this.unsent.flush();
  }

  /**
   * Counts a call in all its scopes, or refuses it and counts it in none: user before application, minute before day.
   *
   * @returns synchronously when this instance counts alone; otherwise after one Redis round trip.
   * @throws app_rate_limited, service_unavailable (the counts of other instances are unknown).
   * Source: docs/reference/application-api.md#request-limits, docs/reference/application-api.md#limit-refusals.
   */
  admit(call: LimitedCall): MaybePromise<void> {
    if (call.user === undefined && call.app === undefined) return;
    return this.countingNow().admit(call);
  }

  /**
   * Notes that a counted call is not sent. It stays counted.
   *
   * Source: docs/reference/application-api.md#request-limits.
   */
  noteUnsent(call: LimitedCall): void {
    this.unsent.note(call);
  }

  /** Refuses a call whose user is beyond its limits; does not count. @throws as `admit`. */
  requireUser(call: LimitedCall): MaybePromise<void> {
    if (call.user === undefined || call.userId === null) return;
    return this.countingNow().require({ ...call, app: undefined });
  }

  /** Counted requests of a user on the current UTC day. */
  countToday(call: LimitedCall): MaybePromise<number> {
    if (call.user === undefined || call.userId === null) return 0;
    return this.countingNow().countToday({ ...call, app: undefined });
  }

  private countingNow(): RequestCounting {
    if (!this.isShared && !this.instances.isConfirmed) throw countsUnknown();
    return this.counting;
  }
}
