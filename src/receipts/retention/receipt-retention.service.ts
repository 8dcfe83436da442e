import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { ReceiptRetentionRepository } from './receipt-retention.repository.js';

/** Most receipts one statement touches. */
const AT_ONCE = 5_000;

/** Forgets what receipts need no longer: answers with keys first, much later the receipts. Source: contract-admin 9. */
@Injectable()
export class ReceiptRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'creation_receipts_pruned',
      failed: 'creation_receipts_prune_failed',
      run: ({ connection, now, signal }) => this.prune(connection, now, signal),
    },
  ];

  constructor(private readonly receipts: ReceiptRetentionRepository) {}

  /** @returns how many sealed answers were cleared, and how many receipts deleted. */
  async prune(
    connection: EntityManager,
    now: Instant,
    signal: AbortSignal,
  ): Promise<{ readonly sealedAnswers: number; readonly receipts: number }> {
    const sealedAnswers = await inBatches(() => this.receipts.clearSealed(connection, now, AT_ONCE), signal);
    const receipts = await inBatches(() => this.receipts.deleteExpired(connection, now, AT_ONCE), signal);
    return { sealedAnswers, receipts };
  }
}
