import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { InvitationRetentionRepository } from './invitation-retention.repository.js';

/** Most invitations one statement deletes. */
const AT_ONCE = 5_000;

/** Forgets invitations that were accepted, were revoked or ran out long ago. */
@Injectable()
export class InvitationRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'invitations_pruned',
      failed: 'invitations_prune_failed',
      run: async ({ connection, days, signal }) => ({ invitations: await this.prune(connection, days.events, signal) }),
    },
  ];

  constructor(private readonly invitations: InvitationRetentionRepository) {}

  /**
   * @param before UTC day, `YYYY-MM-DD`; what ended on it stays.
   * @returns how many invitations were deleted.
   */
  prune(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.invitations.deleteEndedBefore(connection, before, AT_ONCE), signal);
  }
}
