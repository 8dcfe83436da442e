import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { AppConfigParser } from './app-config-parser.js';
import { AppDirectoryRepository } from './app-directory.repository.js';
import { AppDirectoryService } from './app-directory.service.js';

/**
 * Read side of applications: cached configurations for calls, and the own-application check of management routes.
 *
 * Tables: reads apps. Routes: none. Codes: app_not_found. Log lines: app_config_unreadable.
 */
@Module({
  imports: [AccessModule],
  providers: [AppConfigParser, AppDirectoryRepository, AppDirectoryService],
  exports: [AppConfigParser, AppDirectoryService],
})
export class AppDirectoryModule {}
