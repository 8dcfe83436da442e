import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { UserRetentionRepository } from './user-retention.repository.js';

/** Most users one statement deletes. */
const AT_ONCE = 5_000;

/** Forgets users who left no trace for long. Whoever is blocked stays known, so that the block holds (ADR 0034). */
@Injectable()
export class UserRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'app_users_pruned',
      failed: 'app_users_prune_failed',
      run: async ({ connection, days, signal }) => ({ users: await this.prune(connection, days.events, signal) }),
    },
  ];

  protected readonly atOnce: number = AT_ONCE;

  constructor(private readonly users: UserRetentionRepository) {}

  /** @param before UTC day, `YYYY-MM-DD`; who was seen on it stays. @returns how many were deleted. */
  prune(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.users.deleteUnseenSince(connection, before, this.atOnce), signal);
  }
}
