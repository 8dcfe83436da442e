import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../../app-directory/app-directory.module.js';
import { CrossOrigin } from './cross-origin.service.js';
import { VaryingAnswersGuard } from './varying-answers.guard.js';

/**
 * Calls from web pages to the routes of an application, from the origins that it lists.
 *
 * Tables: none. Routes: preflights of `/v1/apps/{app}/…`. Codes: forbidden.
 */
@Module({
  imports: [AppDirectoryModule],
  providers: [CrossOrigin, VaryingAnswersGuard],
  exports: [CrossOrigin, VaryingAnswersGuard],
})
export class OriginsModule {}
