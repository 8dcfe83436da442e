import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Clock, instantOf } from '../../common/clock.js';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import { SettledUsageRepository } from './settled-usage.repository.js';
import { UsageRefusals } from './usage-refusals.service.js';

/** Time from a request, which determines the time of its event, to its admission: several statements at most. */
const LONGEST_ADMISSION_MS = 60_000;
/** Interval at which an instance without changes publishes how far usage is settled. */
const PUBLISH_MS = 5_000;

/**
 * With each heartbeat, publishes how many requests of this instance have no stored event yet, and until when its events
 * are stored. Others cannot read this instance's journal.
 */
@Injectable()
export class OpenCalls implements OnApplicationBootstrap, OnApplicationShutdown {
  private published: string | undefined;
  private publishedAtMs = Number.NEGATIVE_INFINITY;
  private isPublishing = false;
  private unsubscribe: () => void = () => undefined;

  constructor(
    private readonly journal: UsageJournal,
    private readonly refusals: UsageRefusals,
    private readonly instances: InstanceRegistry,
    private readonly repository: SettledUsageRepository,
    private readonly clock: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.unsubscribe = this.instances.onHeartbeat(() => void this.publish());
  }

  onApplicationShutdown(): void {
    this.unsubscribe();
  }

  private async publish(): Promise<void> {
    const { instances, journal } = this;
    const openCalls = journal.openAdmissions + journal.pending;
    // A re-registered instance may have a new row without the count.
    const current = `${instances.leaseAcquisitions}:${openCalls}`;
    const nowMs = this.clock.monotonicMs();
    const isDue = current !== this.published || nowMs - this.publishedAtMs >= PUBLISH_MS;
    if (this.isPublishing || !isDue) return;
    this.isPublishing = true;
    try {
      await this.repository.publish(instances.id, openCalls, instantOf(this.settledUntilMs()));
      this.published = current;
      this.publishedAtMs = nowMs;
    } catch {
      // Postgres is unavailable, which other components log; the next heartbeat retries.
    } finally {
      this.isPublishing = false;
    }
  }

  private settledUntilMs(): number {
    const begun = this.clock.nowMs() - LONGEST_ADMISSION_MS;
    return Math.min(begun, this.journal.unstored.sinceMs, this.refusals.sinceMs);
  }
}
