import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { LimitRetentionRepository } from './limit-retention.repository.js';

/** Most counts one statement deletes. */
const AT_ONCE = 5_000;

/** Forgets counts of requests, by user and window, that were left behind: by instances that no longer count. */
@Injectable()
export class LimitRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'limit_counts_pruned',
      failed: 'limit_counts_prune_failed',
      run: async ({ connection, days, signal }) => ({ counts: await this.prune(connection, days.events, signal) }),
    },
  ];

  constructor(private readonly counts: LimitRetentionRepository) {}

  /** @param before UTC day, `YYYY-MM-DD`; counts of it stay. @returns how many were deleted. */
  async prune(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    const counted = await inBatches(() => this.counts.deleteCounts(connection, before, AT_ONCE), signal);
    return counted + (await inBatches(() => this.counts.deleteUnsent(connection, before, AT_ONCE), signal));
  }
}
