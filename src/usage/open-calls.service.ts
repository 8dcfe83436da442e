import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { UsageJournal } from '../platform/journal/usage-journal.js';
import { OpenCallsRepository } from './open-calls.repository.js';

/**
 * With each heartbeat, publishes how many requests of this instance have no stored event yet, if the number changed. A
 * check of the request counters on another host cannot read this instance's journal.
 */
@Injectable()
export class OpenCalls implements OnApplicationBootstrap, OnApplicationShutdown {
  private told: string | undefined;
  private telling = false;
  private unsubscribe: () => void = () => undefined;

  constructor(
    private readonly journal: UsageJournal,
    private readonly instances: InstanceRegistry,
    private readonly repository: OpenCallsRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.unsubscribe = this.instances.onBeat(() => void this.tell());
  }

  onApplicationShutdown(): void {
    this.unsubscribe();
  }

  private async tell(): Promise<void> {
    const { instances, journal } = this;
    const openCalls = journal.openAdmissions + journal.pending;
    // A re-registered instance may have a new row without the count.
    const news = `${instances.timesEntered}:${openCalls}`;
    if (this.telling || news === this.told) return;
    this.telling = true;
    try {
      await this.repository.tell(instances.id, openCalls);
      this.told = news;
    } catch {
      // Postgres is unavailable, which other components log; the next heartbeat retries.
    } finally {
      this.telling = false;
    }
  }
}
