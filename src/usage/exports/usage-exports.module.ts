import { Module } from '@nestjs/common';
import { AccessModule } from '../../accounts/access/access.module.js';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
import { UsageModule } from '../recording/usage.module.js';
import { UsageReportsModule } from '../reports/usage-reports.module.js';
import { UsageExportsController } from './usage-exports.controller.js';
import { UsageExports } from './usage-exports.service.js';

/**
 * Exports of usage events to other systems, in pages that can be resumed and a manifest to check them against.
 *
 * Tables: none of its own. Routes: `/v1/admin/usage/export*`, `/v1/admin/apps/{app}/usage/export*`. Codes:
 * invalid_request. Log lines: none.
 */
@Module({
  imports: [AppDirectoryModule, AccessModule, UsageModule, UsageReportsModule],
  controllers: [UsageExportsController],
  providers: [UsageExports],
})
export class UsageExportsModule {}
