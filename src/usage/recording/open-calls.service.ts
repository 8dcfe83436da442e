import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InstanceRegistry } from '../../platform/instances/instance-registry.js';
import { UsageJournal } from '../../platform/journal/usage-journal.js';
import { UsageRepository } from './usage.repository.js';

/**
 * With each heartbeat, publishes how many requests of this instance have no stored event yet, if the number changed. A
 * check of the request counters on another host cannot read this instance's journal.
 */
@Injectable()
export class OpenCalls implements OnApplicationBootstrap, OnApplicationShutdown {
  private published: string | undefined;
  private isPublishing = false;
  private unsubscribe: () => void = () => undefined;

  constructor(
    private readonly journal: UsageJournal,
    private readonly instances: InstanceRegistry,
    private readonly repository: UsageRepository,
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
    if (this.isPublishing || current === this.published) return;
    this.isPublishing = true;
    try {
      await this.repository.writeOpenCalls(instances.id, openCalls);
      this.published = current;
    } catch {
      // Postgres is unavailable, which other components log; the next heartbeat retries.
    } finally {
      this.isPublishing = false;
    }
  }
}
