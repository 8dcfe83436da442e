import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { AppKeysModule } from '../app-keys/app-keys.module.js';
import { BudgetsModule } from '../budgets/budgets.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { EntitlementsModule } from '../limits/plans/entitlements.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { ProvidersModule } from '../providers/providers.module.js';
import { UsageReportsModule } from '../usage/reports/usage-reports.module.js';
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
import { ProviderUseController } from './provider-use/provider-use.controller.js';
import { ProviderUseService } from './provider-use/provider-use.service.js';
import { AppSnippetsController } from './snippets/app-snippets.controller.js';
import { AppSnippets } from './snippets/app-snippets.service.js';

/**
 * Write side of applications: list, create, replace, validate, check, delete.
 *
 * Tables: apps. Routes: `/v1/admin/apps`, `/v1/admin/apps/validate`, `/v1/admin/apps/{app}`, its `validate`, `check`
 * and `snippet`, `/v1/admin/providers/usage`.
 * Codes: invalid_request, app_revision_required, app_revision_conflict, app_not_found, conflict,
 * resource_receipt_expired, resource_key_unavailable, billing_plan_limit_reached,
 * unsupported_snippet, endpoint_not_found, provider_not_found.
 */
@Module({
  imports: [
    EntitlementsModule,
    AppDirectoryModule,
    AccessModule,
    AppKeysModule,
    BudgetsModule,
    PricingModule,
    ProvidersModule,
    IdempotencyModule,
    UsageReportsModule,
    UsersModule,
  ],
  controllers: [AppsController, AppSnippetsController, ProviderUseController],
  providers: [
    AccountProvidersService,
    AppDraftsService,
    AppListService,
    AppSnippets,
    AppViews,
    AppsRepository,
    AppsService,
    CreateAppService,
    NewAppIds,
    ProviderUseService,
  ],
  exports: [AppViews, CreateAppService],
})
export class AppsModule {}
