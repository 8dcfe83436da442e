import { Module } from '@nestjs/common';
import { AccessModule } from '../../accounts/access/access.module.js';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
import { AuthEventsModule } from '../events/auth-events.module.js';
import { EnforcementPreviewController } from './enforcement-preview.controller.js';
import { EnforcementPreviews } from './enforcement-preview.service.js';

/**
 * Reports whom a configuration of device proofs would refuse, based on recorded attempts.
 *
 * Source: docs/reference/management-api.md#preview-of-enforcement.
 *
 * Tables: none. Routes: `/v1/admin/apps/{app}/enforcement-preview`. Codes: none of its own. Log lines: none.
 */
@Module({
  imports: [AppDirectoryModule, AccessModule, AuthEventsModule],
  controllers: [EnforcementPreviewController],
  providers: [EnforcementPreviews],
})
export class PreviewModule {}
