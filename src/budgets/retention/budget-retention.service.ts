import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { inBatches } from '../../platform/database/in-batches.js';
import type { KeepsForATime, RetentionStep } from '../../platform/retention/retention-step.js';
import { BudgetRetentionRepository } from './budget-retention.repository.js';

/** Most rows one statement takes away. */
const AT_ONCE = 5_000;

/** Forgets what was spent in months that no budget is about any more. */
@Injectable()
export class BudgetRetention implements KeepsForATime {
  readonly retentionSteps: readonly RetentionStep[] = [
    {
      done: 'budget_months_pruned',
      failed: 'budget_prune_failed',
      run: async ({ connection, days, signal }) => ({
        months: await this.prune(connection, days.dayTotals, signal),
        userMonths: await this.pruneUsers(connection, days.events, signal),
      }),
    },
  ];

  protected readonly atOnce: number = AT_ONCE;

  constructor(private readonly budgets: BudgetRetentionRepository) {}

  /**
   * @param before first day of a UTC month, `YYYY-MM-DD`; that month stays.
   * @returns how many budgets of months it forgot.
   */
  prune(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.budgets.deleteMonths(connection, before, this.atOnce), signal);
  }

  /**
   * What users spent goes sooner than what applications spent: with the rest of what is known of them.
   *
   * @param before UTC day, `YYYY-MM-DD`; months that began after it stay, so that the month in force always does.
   * @returns how many budgets of months it forgot.
   */
  pruneUsers(connection: EntityManager, before: string, signal: AbortSignal): Promise<number> {
    return inBatches(() => this.budgets.deleteUserMonths(connection, before, this.atOnce), signal);
  }
}
