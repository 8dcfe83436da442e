import { Injectable } from '@nestjs/common';
import { StatementBatch } from '../platform/database/statement-batch.js';
import type { CallBudget } from './budget-hold.js';
import { budgetUnknown } from './budget-refusals.js';
import { type BegunRun, type RunCall, RunsRepository } from './runs.repository.js';

/** A call of a run. Amounts are whole nano-dollars. */
export interface CallOfRun extends Omit<RunCall, 'budgetNanoUsd'> {
  /** Undefined: that of the first call; the maximum for the first call itself. */
  readonly budgetNanoUsd: number | undefined;
  readonly maxNanoUsd: number;
}

/** A run, and the budget with which it began. */
export interface RunBudget {
  readonly budget: CallBudget;
  readonly begunNanoUsd: number;
}

/**
 * Runs: calls of a backend that share a budget. A run belongs to an application and a user, begins with its first call,
 * and ends an hour after its last one; the same id then starts another run.
 *
 * Source: docs/reference/accounting.md#groups-and-runs.
 */
@Injectable()
export class BudgetRuns {
  private readonly calls: StatementBatch<RunCall, BegunRun>;

  constructor(repository: RunsRepository) {
    this.calls = new StatementBatch((asked: readonly RunCall[]) => repository.join(asked));
  }

  /**
   * Adds a call to its run, or begins the run.
   *
   * @throws service_unavailable the run is unknown.
   */
  async join({ maxNanoUsd, budgetNanoUsd = maxNanoUsd, ...call }: CallOfRun): Promise<RunBudget> {
    const { organizationId, appId, userId, runId } = call;
    let run: BegunRun;
    try {
      run = await this.calls.add({ ...call, budgetNanoUsd });
    } catch (error) {
      throw budgetUnknown('budget_not_reached', error);
    }
    // The start distinguishes runs with the same id. An id has no line breaks.
    const subject = `${runId}\n${run.startedAtMs}\n${userId}`;
    const limit = Math.min(run.budgetNanoUsd, maxNanoUsd);
    return {
      budget: { organizationId, appId, scope: 'run', subject, window: 'run', limit },
      begunNanoUsd: run.budgetNanoUsd,
    };
  }
}
