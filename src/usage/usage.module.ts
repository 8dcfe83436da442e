import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { AppUsageTotals } from '../app-directory/app-usage-totals.js';
import { BudgetsModule } from '../budgets/budgets.module.js';
import { RecordedAccountRequests } from '../entitlements/recorded-account-requests.js';
import { IdentityModule } from '../identity/identity.module.js';
import { JournalModule } from '../platform/journal/journal.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { RecordedRequests } from '../request-limits/recorded-requests.js';
import { RecordedUsageTotals } from './app-usage-totals.service.js';
import { EventCostsRepository } from './event/event-costs.repository.js';
import { UsagePartitionsRepository } from './event/usage-partitions.repository.js';
import { UsageWritesRepository } from './event/usage-writes.repository.js';
import { OpenCallsRepository } from './ledger/open-calls.repository.js';
import { OpenCalls } from './ledger/open-calls.service.js';
import { StoredAccountRequests } from './recorded-account-requests.service.js';
import { StoredRequests } from './recorded-requests.service.js';
import { UsageReportsController } from './reports/usage-reports.controller.js';
import { UsageReports } from './reports/usage-reports.service.js';
import { UserSharesRepository } from './reports/user-shares.repository.js';
import { UsageRepriceController } from './reprice/usage-reprice.controller.js';
import { UsageRepriceRepository } from './reprice/usage-reprice.repository.js';
import { UsageRepriceService } from './reprice/usage-reprice.service.js';
import { SettleEstimatesController } from './settle/settle-estimates.controller.js';
import { SettleEstimatesRepository } from './settle/settle-estimates.repository.js';
import { SettleEstimates } from './settle/settle-estimates.service.js';
import { UsageController } from './usage.controller.js';
import { UsageRepository } from './usage.repository.js';
import { UsageService } from './usage.service.js';
import { UsageIncidents } from './usage-incidents.service.js';
import { UsagePartitions } from './usage-partitions.service.js';
import { UsageRecorder } from './usage-recorder.service.js';
import { UsageRecovery } from './usage-recovery.service.js';
import { UsageRefusals } from './usage-refusals.service.js';
import { UsageResponses } from './usage-responses.service.js';
import { UsageSumsRepository } from './usage-sums.repository.js';
import { UsageWriter } from './usage-writer.service.js';
import { UserUsage } from './user-usage.service.js';

/**
 * One event for every request that reached a provider, never lost and never doubled, rows that count those that were
 * refused, sums of them, and what people read of both.
 *
 * Tables: usage_events, usage_days, usage_months, usage_user_days, usage_user_months, usage_all_users_days. Routes:
 * `/v1/admin/apps/{app}/usage*`, `/v1/admin/apps/{app}/events`. Codes: service_unavailable (a call that could not be
 * recorded). Log lines: usage_unresolved_cost, usage_events_write_failed, usage_event_rejected,
 * usage_journal_recovered, usage_partitions_failed, usage_refusals_write_failed.
 */
@Module({
  imports: [AppDirectoryModule, BudgetsModule, IdentityModule, JournalModule, PricingModule],
  controllers: [UsageController, UsageReportsController, UsageRepriceController, SettleEstimatesController],
  providers: [
    EventCostsRepository,
    OpenCalls,
    OpenCallsRepository,
    SettleEstimates,
    SettleEstimatesRepository,
    UsageIncidents,
    UsagePartitions,
    UsagePartitionsRepository,
    UsageRecorder,
    UsageRecovery,
    UsageRefusals,
    UsageReports,
    UsageRepository,
    UsageRepriceRepository,
    UsageRepriceService,
    UsageResponses,
    UsageService,
    UsageSumsRepository,
    UsageWriter,
    UsageWritesRepository,
    UserSharesRepository,
    UserUsage,
    { provide: AppUsageTotals, useClass: RecordedUsageTotals },
    { provide: RecordedAccountRequests, useClass: StoredAccountRequests },
    { provide: RecordedRequests, useClass: StoredRequests },
  ],
  exports: [
    AppUsageTotals,
    RecordedAccountRequests,
    RecordedRequests,
    UsageRecorder,
    UsageRefusals,
    UsageResponses,
    UserUsage,
  ],
})
export class UsageModule {}
