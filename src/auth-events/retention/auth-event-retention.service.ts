import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { AuthEventRetentionRepository } from './auth-event-retention.repository.js';

/** Most events one statement deletes. */
const AT_ONCE = 5_000;

/** Forgets old authentication events. Nothing is summed up of them. */
@Injectable()
export class AuthEventRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'auth_events_pruned',
      failed: 'auth_events_prune_failed',
      run: async ({ connection, days, signal }) => ({ events: await this.prune(connection, days.events, signal) }),
    },
  ];

  constructor(private readonly events: AuthEventRetentionRepository) {}

  /**
   * @param before UTC day, `YYYY-MM-DD`; what happened on it stays.
   * @returns how many events were deleted.
   */
  prune(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.events.deleteBefore(connection, before, AT_ONCE), signal);
  }
}
