import { Module } from '@nestjs/common';
import { BudgetChanges } from './budget-events.js';
import { BudgetsRepository } from './budgets.repository.js';
import { Budgets } from './budgets.service.js';

/**
 * Hard budgets: the maximum cost of a call is held before the call and settled when its event is stored. Grants share
 * budgets among instances.
 *
 * Tables: budget_periods (shared with `usage`, which adds the spending), budget_grants.
 * Routes: none.
 * Codes: app_budget_exhausted, service_unavailable.
 * Log lines: budget_grants_expired, budget_write_failed.
 */
@Module({ providers: [BudgetChanges, Budgets, BudgetsRepository], exports: [BudgetChanges, Budgets] })
export class BudgetsModule {}
