import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { RequestLimitsModule } from '../limits/requests/request-limits.module.js';
import { UsageReportsModule } from '../usage/reports/usage-reports.module.js';
import { BlockedUsers } from './blocked-users.js';
import { ManagedUsers } from './managed-users.service.js';
import { UserDataRepository } from './user-data.repository.js';
import { UserExport } from './user-export.service.js';
import { UserStanding } from './user-standing.service.js';
import { UserViewsRepository } from './user-views.repository.js';
import { UsersController } from './users.controller.js';
import { UsersRepository } from './users.repository.js';
import { AppUsers, UsersService } from './users.service.js';

/**
 * End users of applications: stored at an exchange, listed, blocked, unblocked, compared with their limits, and all that
 * is stored about one of them.
 *
 * Tables: app_users; reads device_keys, usage_user_months and budget_periods, and for the export of a user every table
 * with ids of users. Routes: `/v1/admin/apps/{app}/users*`,
 * `/v1/admin/apps/{app}/user*`. Codes: not_found, auth_required (blocked), app_not_found (deleted during the call),
 * invalid_request (invalid id, no users). Log lines: none.
 */
@Module({
  imports: [AppDirectoryModule, AccessModule, RequestLimitsModule, UsageReportsModule],
  controllers: [UsersController],
  providers: [
    AppUsers,
    BlockedUsers,
    ManagedUsers,
    UserDataRepository,
    UserExport,
    UserStanding,
    UserViewsRepository,
    UsersRepository,
    UsersService,
  ],
  exports: [AppUsers, BlockedUsers, UserStanding, UsersService],
})
export class UsersModule {}
