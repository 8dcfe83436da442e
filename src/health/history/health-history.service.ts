import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { ReadinessService } from '../readiness.service.js';
import { dayOf, firstSlot, type HealthSlot, type PartHistory, samplesOf, sumOf } from './health-history.rules.js';
import { HealthSlotsRepository } from './health-slots.repository.js';

const SAMPLE_MS = 60_000;

/** The last day of the parts of the deployment. */
export interface HealthHistoryOfDay {
  readonly sinceMs: number;
  readonly parts: readonly PartHistory[];
}

/**
 * Samples the readiness of this instance every minute and adds it to the slots of all instances. While the database is
 * unavailable, samples are kept in memory, at most a day, so that its outage is in the history too.
 *
 * Source: docs/monitoring.md#health.
 */
@Injectable()
export class HealthHistory {
  private unwritten: readonly HealthSlot[] = [];

  constructor(
    private readonly readiness: ReadinessService,
    private readonly slots: HealthSlotsRepository,
    private readonly clock: Clock,
  ) {}

  @Interval('health-samples', SAMPLE_MS)
  async sample(): Promise<void> {
    const state = await this.readiness.check();
    const nowMs = this.clock.nowMs();
    const sums = sumOf([...this.unwritten, ...samplesOf(state, nowMs)], nowMs);
    this.unwritten = sums;
    if (state.database !== 'ok') return;
    this.unwritten = [];
    // A database that became unavailable in between is reported by the pool; the next sample tries again.
    await this.slots.add(sums, firstSlot(nowMs)).catch(() => {
      this.unwritten = sumOf([...sums, ...this.unwritten], nowMs);
    });
  }

  async day(): Promise<HealthHistoryOfDay> {
    const nowMs = this.clock.nowMs();
    const sinceMs = firstSlot(nowMs);
    return { sinceMs, parts: dayOf(await this.slots.since(sinceMs), nowMs) };
  }
}
