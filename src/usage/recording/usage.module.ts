import { Module } from '@nestjs/common';
import { BudgetsModule } from '../../budgets/budgets.module.js';
import { JournalModule } from '../../platform/journal/journal.module.js';
import { PricingModule } from '../../pricing/pricing.module.js';
import { UsagePartitionsRepository } from './event/usage-partitions.repository.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { KeptObjectsRepository } from './kept-objects.repository.js';
import { KeptObjects } from './kept-objects.service.js';
import { OpenCalls } from './open-calls.service.js';
import { RecordedAccountRequests, RecordedRequests } from './recorded-requests.service.js';
import { SettledUsageRepository } from './settled-usage.repository.js';
import { UsageRepository } from './usage.repository.js';
import { UsageIncidents } from './usage-incidents.service.js';
import { UsagePartitions } from './usage-partitions.service.js';
import { UsageRecorder } from './usage-recorder.service.js';
import { UsageRecovery } from './usage-recovery.service.js';
import { UsageRefusals } from './usage-refusals.service.js';
import { UsageSumsRepository } from './usage-sums.repository.js';
import { UsageWriter } from './usage-writer.service.js';

/**
 * Records one event for every request that reached a provider, exactly once, counts refused requests, and keeps sums of
 * both.
 *
 * Tables: usage_events, usage_days, usage_months, usage_user_days, usage_user_months, usage_all_users_days,
 * usage_key_days, usage_group_days, usage_latencies, kept_objects.
 * Routes: none.
 * Codes: service_unavailable (a call that could not be recorded).
 * Log lines: usage_unresolved_cost, usage_events_write_failed, usage_event_rejected, usage_journal_recovered,
 * usage_partitions_failed, kept_objects_write_failed, usage_refusals_write_failed.
 */
@Module({
  imports: [BudgetsModule, JournalModule, PricingModule],
  providers: [
    OpenCalls,
    RecordedAccountRequests,
    RecordedRequests,
    SettledUsageRepository,
    UsageIncidents,
    UsagePartitions,
    UsagePartitionsRepository,
    UsageRecorder,
    UsageRecovery,
    UsageRefusals,
    UsageRepository,
    KeptObjects,
    KeptObjectsRepository,
    UsageSumsRepository,
    UsageWriter,
    UsageWritesRepository,
  ],
  exports: [
    RecordedAccountRequests,
    RecordedRequests,
    SettledUsageRepository,
    UsageRecorder,
    UsageRefusals,
    UsageRepository,
    KeptObjects,
    UsageSumsRepository,
  ],
})
export class UsageModule {}
