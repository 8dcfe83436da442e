import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Log } from '../common/log/log.js';
import { InstanceRegistry } from '../platform/instances/instance-registry.js';
import { RisingCountsRepository } from './rising-counts.repository.js';

/** Name of the interval in the scheduler. */
const RISING_COUNTS = 'rising-counts';
const LOOK_EVERY_MS = 60_000;

/**
 * Reports unusually many refused sign-ins and unresolved costs to webhooks. One instance checks for all; if two do so,
 * each event is still stored once.
 *
 * Source: docs/reference/webhooks.md#rising-counts.
 */
@Injectable()
export class RisingCounts implements BeforeApplicationShutdown {
  private looking: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly counts: RisingCountsRepository,
    private readonly instances: InstanceRegistry,
    private readonly log: Log,
  ) {}

  /** Resolves when no check is in progress. */
  @Interval(RISING_COUNTS, LOOK_EVERY_MS)
  async look(): Promise<void> {
    const [first] = this.instances.live;
    if (this.isStopping || first?.id !== this.instances.id) return;
    this.looking ??= this.store().finally(() => {
      this.looking = undefined;
    });
    await this.looking;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.looking;
  }

  private async store(): Promise<void> {
    try {
      await this.counts.store();
    } catch (error) {
      this.log.event('rising_events_failed', { error: String(error) });
    }
  }
}
