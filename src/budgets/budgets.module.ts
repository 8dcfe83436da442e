import { Module } from '@nestjs/common';
import { BudgetsRepository } from './budgets.repository.js';
import { Budgets } from './budgets.service.js';

/**
 * Hard budgets: money is held before a call is made and counts when its event is stored; shared by all instances
 * through grants.
 *
 * Tables: budget_months (with the usage room, which adds what is spent), budget_grants. Routes: none. Codes:
 * app_budget_exhausted, service_unavailable. Log lines: budget_grants_expired, budget_write_failed.
 */
@Module({ providers: [Budgets, BudgetsRepository], exports: [Budgets] })
export class BudgetsModule {}
