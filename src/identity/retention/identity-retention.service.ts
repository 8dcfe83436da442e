import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { IdentityRetentionRepository } from './identity-retention.repository.js';

/** Most rows one statement deletes. */
const AT_ONCE = 5_000;

/** Forgets old entries of trails, sessions that ended by themselves, and management keys that were revoked long ago. */
@Injectable()
export class IdentityRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'audit_events_pruned',
      failed: 'audit_events_prune_failed',
      run: async ({ connection, days, signal }) => ({
        events: await this.pruneAuditEvents(connection, days.events, signal),
      }),
    },
    {
      done: 'sessions_pruned',
      failed: 'sessions_prune_failed',
      run: async ({ connection, now, signal }) => ({ sessions: await this.pruneSessions(connection, now, signal) }),
    },
    {
      done: 'management_keys_pruned',
      failed: 'management_keys_prune_failed',
      run: async ({ connection, days, signal }) => ({
        keys: await this.pruneRevokedKeys(connection, days.events, signal),
      }),
    },
  ];

  constructor(private readonly rows: IdentityRetentionRepository) {}

  /**
   * @param before UTC day, `YYYY-MM-DD`; what was done on it stays.
   * @returns how many entries were deleted.
   */
  pruneAuditEvents(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.rows.deleteAuditEventsBefore(connection, before, AT_ONCE), signal);
  }

  /** @returns how many sessions had ended by `at` and were deleted. */
  pruneSessions(connection: EntityManager, at: Instant, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.rows.deleteEndedSessions(connection, at, AT_ONCE), signal);
  }

  /**
   * Management keys of every kind; one that was never revoked stays whatever its age.
   *
   * @param before UTC day, `YYYY-MM-DD`; what was revoked on it stays.
   * @returns how many keys were deleted.
   */
  pruneRevokedKeys(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.rows.deleteKeysRevokedBefore(connection, before, AT_ONCE), signal);
  }
}
