import { Module } from '@nestjs/common';
import { AppDirectoryModule } from '../../src/app-directory/app-directory.module.js';
import { IdentityModule } from '../../src/identity/identity.module.js';
import { ReportsController } from './reports.controller.js';
import { ReportsRepository, ReportsService } from './reports.service.js';
import { StaffRepository } from './staff.guard.js';

@Module({
  imports: [IdentityModule, AppDirectoryModule],
  controllers: [ReportsController],
  providers: [ReportsService, ReportsRepository, StaffRepository],
})
export class ReportsModule {}
