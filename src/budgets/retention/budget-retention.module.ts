import { Module } from '@nestjs/common';
import { BudgetRetentionRepository } from './budget-retention.repository.js';
import { BudgetRetention } from './budget-retention.service.js';

/** Budgets of months that are long over, apart from those that are in use, so that maintenance needs no instance. */
@Module({ providers: [BudgetRetention, BudgetRetentionRepository], exports: [BudgetRetention] })
export class BudgetRetentionModule {}
