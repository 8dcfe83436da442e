import { Module } from '@nestjs/common';
import { BudgetChanges } from './budget-events.js';
import { BudgetRuns } from './budget-runs.js';
import { BudgetsRepository } from './budgets.repository.js';
import { Budgets } from './budgets.service.js';
import { RunsRepository } from './runs.repository.js';

/**
 * Hard budgets: the maximum cost of a call is held before the call and settled when its event is stored. Grants share
 * budgets among instances.
 *
 * Tables: budget_periods (shared with `usage`, which adds the spending), budget_grants, budget_runs.
 * Routes: none.
 * Codes: app_budget_exhausted, app_rate_limited, service_unavailable.
 * Log lines: budget_grants_expired, budget_write_failed.
 */
@Module({
  providers: [BudgetChanges, BudgetRuns, Budgets, BudgetsRepository, RunsRepository],
  exports: [BudgetChanges, BudgetRuns, Budgets],
})
export class BudgetsModule {}
