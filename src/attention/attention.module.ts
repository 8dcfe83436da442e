import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { AttentionController } from './attention.controller.js';
import { AttentionRepository } from './attention.repository.js';
import { Attention } from './attention.service.js';

/**
 * What needs attention in an account: failing providers, budgets that are nearly spent, unresolved costs, unused keys.
 *
 * Tables: none of its own; reads usage_days, usage_events, budget_months, app_users, apps, providers, app_keys and
 * management_keys. Routes: `/v1/admin/attention`. Codes: none of its own. Log lines: none.
 */
@Module({
  imports: [AccessModule],
  controllers: [AttentionController],
  providers: [Attention, AttentionRepository],
})
export class AttentionModule {}
