import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { ChallengesRepository } from '../challenges.repository.js';

/** Most challenges one statement deletes. */
const AT_ONCE = 5_000;

/** Forgets challenges that ran out, also where no further ones are issued that would clear them along the way. */
@Injectable()
export class ChallengeRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'auth_challenges_pruned',
      failed: 'auth_challenges_prune_failed',
      run: async ({ connection, signal }) => ({ challenges: await this.prune(connection, signal) }),
    },
  ];

  constructor(private readonly challenges: ChallengesRepository) {}

  /** @returns how many were deleted. */
  prune(connection: EntityManager, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.challenges.deleteExpired(AT_ONCE, connection), signal);
  }
}
