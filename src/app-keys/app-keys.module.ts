import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { AppDirectoryModule } from '../app-directory/app-directory.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { EntitlementsModule } from '../limits/plans/entitlements.module.js';
import { AppKeyDirectory } from './app-key-directory.js';
import { AppKeyUses } from './app-key-uses.js';
import { AppKeysController } from './app-keys.controller.js';
import { AppKeysRepository } from './app-keys.repository.js';
import { AppKeysService } from './app-keys.service.js';

/**
 * Application keys of server backends: issue, list, revoke, and the look-up of a presented key.
 *
 * Tables: app_keys. Routes: `/v1/admin/apps/{app}/keys*`. Codes: not_found, resource_receipt_expired,
 * resource_key_unavailable, billing_plan_limit_reached. Log lines: app_key_use_write_failed.
 */
@Module({
  imports: [EntitlementsModule, AppDirectoryModule, AccessModule, IdempotencyModule],
  controllers: [AppKeysController],
  providers: [AppKeyDirectory, AppKeyUses, AppKeysRepository, AppKeysService],
  exports: [AppKeyDirectory, AppKeysService],
})
export class AppKeysModule {}
