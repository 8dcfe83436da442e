import { Module } from '@nestjs/common';
import { AccessModule } from '../../accounts/access/access.module.js';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
import { UsageModule } from '../recording/usage.module.js';
import { AccountEventsRepository } from './account-events.repository.js';
import { AccountEvents } from './account-events.service.js';
import { AccountUsageController } from './account-usage.controller.js';
import { AccountUsageRepository } from './account-usage.repository.js';
import { AccountUsageReports } from './account-usage.service.js';
import { AppUsageTotals } from './app-usage-totals.service.js';
import { RecentCallsOfProviders } from './provider-calls.service.js';
import { UsageReportsController } from './usage-reports.controller.js';
import { UsageReports } from './usage-reports.service.js';
import { UserSharesRepository } from './user-shares.repository.js';
import { UserUsage } from './user-usage.service.js';

/**
 * Usage reports: events, totals of a month, time series, breakdowns and usage by user.
 *
 * Tables: none of its own.
 * Routes: `/v1/admin/apps/{app}/usage*` except repricing and settling, `/v1/admin/apps/{app}/events`,
 * `/v1/admin/usage*`.
 */
@Module({
  imports: [AppDirectoryModule, AccessModule, UsageModule],
  controllers: [UsageReportsController, AccountUsageController],
  providers: [
    AccountEvents,
    AccountEventsRepository,
    AccountUsageReports,
    AccountUsageRepository,
    AppUsageTotals,
    RecentCallsOfProviders,
    UsageReports,
    UserSharesRepository,
    UserUsage,
  ],
  exports: [AccountEventsRepository, AppUsageTotals, RecentCallsOfProviders, UserUsage],
})
export class UsageReportsModule {}
