import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inBatches } from '../../platform/database/in-batches.js';
import { InvitationRetentionRepository } from './invitation-retention.repository.js';

/** Most invitations one statement deletes. */
const AT_ONCE = 5_000;

/** Forgets invitations that were accepted, were revoked or ran out long ago. */
@Injectable()
export class InvitationRetention {
  constructor(private readonly invitations: InvitationRetentionRepository) {}

  /**
   * @param before UTC day, `YYYY-MM-DD`; what ended on it stays.
   * @returns how many invitations were deleted.
   */
  prune(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.invitations.deleteEndedBefore(connection, before, AT_ONCE), signal);
  }
}
