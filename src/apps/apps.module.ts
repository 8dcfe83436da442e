import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { AppKeysModule } from '../app-keys/app-keys.module.js';
import { EntitlementsModule } from '../entitlements/entitlements.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { UsageReportsModule } from '../usage-reports/usage-reports.module.js';
import { UsersModule } from '../users/users.module.js';
import { AccountProvidersService } from './account-providers.js';
import { AppDraftsService } from './app-drafts.service.js';
import { AppListService } from './app-list.service.js';
import { AppViews } from './app-views.js';
import { AppsController } from './apps.controller.js';
import { AppsRepository } from './apps.repository.js';
import { AppsService } from './apps.service.js';
import { CreateAppService } from './create-app.service.js';
import { NewAppIds } from './new-app-ids.service.js';

/**
 * Write side of applications: list, create, replace, validate, check, delete.
 *
 * Tables: apps. Routes: `/v1/admin/apps`, `/v1/admin/apps/{app}`, its `validate` and `check`.
 * Codes: invalid_request, app_revision_required, app_revision_conflict, app_not_found, conflict,
 * resource_receipt_expired, resource_key_unavailable, billing_plan_limit_reached.
 */
@Module({
  imports: [
    EntitlementsModule,
    AppDirectoryModule,
    IdentityModule,
    AppKeysModule,
    PricingModule,
    ProvidersModule,
    IdempotencyModule,
    UsageReportsModule,
    UsersModule,
  ],
  controllers: [AppsController],
  providers: [
    AccountProvidersService,
    AppDraftsService,
    AppListService,
    AppViews,
    AppsRepository,
    AppsService,
    CreateAppService,
    NewAppIds,
  ],
})
export class AppsModule {}
