import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { SystemClock } from '../common/clock.js';
import type { Ready } from '../common/when-ready.js';
import { ConfigChanges } from '../platform/database/config-changes.js';
import { EVERYTHING } from '../platform/database/config-changes.rules.js';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { Metrics } from '../platform/metrics/metrics.js';
import { RedisConnection } from '../platform/redis/redis-connection.js';
import type { RequestCounters } from './counts/request-counters.js';
import { LimitEpochs } from './epochs/limit-epochs.service.js';
import type { LimitedCall } from './limited-call.js';
import type { RequestCounting } from './places/request-counting.js';
import { SharedCounting } from './places/shared-counting.js';
import { countsUnknown } from './request-limit.rules.js';
import { UnsentRequests } from './stored/unsent-requests.service.js';

/** Topic of {@link ConfigChanges} for applications; the key is the application's id. */
const APPS_TOPIC = 'apps';

/**
 * Request limits of applications and of their users, by minute and by UTC day: in this process where it serves alone,
 * in Redis or on each instance within its share where there are several.
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
    this.counting = this.isShared ? new SharedCounting(epochs, new SystemClock()) : alone.counting;
    this.counters = this.isShared ? () => epochs.place?.counters : () => alone.counters;
    metrics.limitsDegraded.read = () => (this.isShared && epochs.isDegraded ? 1 : 0);
    epochs.onUnsent = (call) => unsent.note(call);
    this.unsubscribe = configChanges.subscribe(APPS_TOPIC, (appId) => {
      if (appId === EVERYTHING) this.counters()?.everythingChanged();
      else this.counters()?.appChanged(appId);
    });
  }

  /** Before calls come. */
  async onApplicationBootstrap(): Promise<void> {
    await (this.isShared ? this.epochs.start() : this.epochs.startAlone());
  }

  /** After the last call. */
  async onApplicationShutdown(): Promise<void> {
    this.unsubscribe();
    if (this.isShared) await this.epochs.leave();
    await this.unsent.flush();
  }

  /**
   * Counts a call in all its scopes, or refuses it and counts it in none: user before application, minute before day.
   *
   * @returns at once where this instance counts alone; after one question to Redis otherwise.
   * @throws app_rate_limited, service_unavailable (what others have counted cannot be known now).
   * Source: docs/reference/application-api.md#request-limits, docs/reference/application-api.md#limit-refusals.
   */
  admit(call: LimitedCall): Ready<void> {
    if (call.user === undefined && call.app === undefined) return;
    return this.countingNow().admit(call);
  }

  /**
   * A call that was counted will not be sent. It stays counted, and is noted.
   *
   * Source: docs/reference/application-api.md#request-limits.
   */
  noteUnsent(call: LimitedCall): void {
    this.unsent.note(call);
  }

  /** Refuses a call whose user is beyond its limits; counts nothing. @throws as `admit`. */
  requireUser(call: LimitedCall): Ready<void> {
    if (call.user === undefined || call.userId === null) return;
    return this.countingNow().require({ ...call, app: undefined });
  }

  /** Requests of a user that were counted on the current UTC day. */
  countToday(call: LimitedCall): Ready<number> {
    if (call.user === undefined || call.userId === null) return 0;
    return this.countingNow().countToday({ ...call, app: undefined });
  }

  private countingNow(): RequestCounting {
    if (!this.isShared && !this.instances.isConfirmed) throw countsUnknown();
    return this.counting;
  }
}
