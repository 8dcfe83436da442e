import { Module } from '@nestjs/common';
import { AccessModule } from '../../accounts/access/access.module.js';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
import { UsageReportsModule } from '../../usage/reports/usage-reports.module.js';
import { UsersModule } from '../../users/users.module.js';
import { AuthEventReports } from './auth-event-reports.service.js';
import { AuthEventLosses, AuthEventWriter } from './auth-event-writer.service.js';
import { AuthEventsController } from './auth-events.controller.js';
import { AuthEventsRepository } from './auth-events.repository.js';
import { AuthEvents } from './auth-events.service.js';

/**
 * Records one event for every attempt to register a device or to exchange a token, and reports them.
 *
 * Tables: auth_events. Routes: `/v1/admin/apps/{app}/auth-events`, `/v1/admin/apps/{app}/auth-events/summary`. Codes:
 * none of its own. Log lines: auth_event_record_failed.
 */
@Module({
  imports: [AppDirectoryModule, AccessModule, UsageReportsModule, UsersModule],
  controllers: [AuthEventsController],
  providers: [AuthEventLosses, AuthEventReports, AuthEventWriter, AuthEvents, AuthEventsRepository],
  exports: [AuthEventReports, AuthEvents],
})
export class AuthEventsModule {}
