import { Module } from '@nestjs/common';
import { AccessModule } from '../../src/accounts/access/access.module.js';
import { AppDirectoryModule } from '../../src/app-directory/app-directory.module.js';
import { ReportsController } from './reports.controller.js';
import { ReportsRepository, ReportsService } from './reports.service.js';
import { StaffRepository } from './staff.guard.js';

@Module({
  imports: [AccessModule, AppDirectoryModule],
  controllers: [ReportsController],
  providers: [ReportsService, ReportsRepository, StaffRepository],
})
export class ReportsModule {}
