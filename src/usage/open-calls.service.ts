import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { UsageJournal } from '../platform/journal/usage-journal.js';
import { OpenCallsRepository } from './open-calls.repository.js';

/**
 * Tells with each sign of life how many requests of this instance have no stored event yet, where that has changed: whoever
 * checks the counters of requests on another machine cannot read its journal.
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
    // Who enters anew may have an entry that knows nothing.
    const news = `${instances.timesEntered}:${openCalls}`;
    if (this.telling || news === this.told) return;
    this.telling = true;
    try {
      await this.repository.tell(instances.id, openCalls);
      this.told = news;
    } catch {
      // Postgres is away, which others tell of; the next sign of life tries again.
    } finally {
      this.telling = false;
    }
  }
}
