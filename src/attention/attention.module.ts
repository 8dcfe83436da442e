import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { AttentionController } from './attention.controller.js';
import { AttentionRepository } from './attention.repository.js';
import { Attention } from './attention.service.js';
import { RisingCountsRepository } from './rising-counts.repository.js';
import { RisingCounts } from './rising-counts.service.js';

/**
 * What needs attention in an account: failing providers, budgets that are nearly spent, unresolved costs, unused keys.
 * Reports rising counts to webhooks.
 *
 * Tables: none of its own; reads usage_days, usage_events, budget_periods, app_users, apps, providers,
 * provider_health, app_keys, management_keys and auth_events. Routes: `/v1/admin/attention`. Codes: none of its own.
 * Log lines: rising_events_failed.
 */
@Module({
  imports: [AccessModule],
  controllers: [AttentionController],
  providers: [Attention, AttentionRepository, RisingCounts, RisingCountsRepository],
})
export class AttentionModule {}
