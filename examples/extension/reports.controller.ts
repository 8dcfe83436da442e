import { Controller, Get, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiProperty } from '@nestjs/swagger';
import { Admin, AdminAccess, ManagementAccess } from '../../src/accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../src/accounts/access/admin-principal.js';
import { AdminAppAccess, OwnApp } from '../../src/app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../../src/app-directory/app.entity.js';
import { Fails, Operation } from '../../src/common/http/openapi.decorators.js';
import { ReportsService } from './reports.service.js';
import { StaffGuard } from './staff.guard.js';

class AppCountResponse {
  @ApiProperty({ type: 'integer', description: 'Applications of the account.' })
  apps: number;
}

class AppReportResponse {
  @ApiProperty({ type: 'string' })
  app_id: string;

  @ApiProperty({ type: 'integer', description: 'Its revision.' })
  revision: number;
}

@Controller('v1/admin')
export class ReportsController {
  constructor(private readonly reports: ReportsService) {}

  @Get('reports/apps')
  @AdminAccess('read')
  @Operation({ id: 'countApps', tag: 'Reports', summary: 'Count applications' })
  @ApiOkResponse({ type: AppCountResponse })
  async count(@Admin() admin: AdminPrincipal): Promise<AppCountResponse> {
    return { apps: await this.reports.countApps(admin) };
  }

  @Get('apps/:app/report')
  @AdminAppAccess('read')
  @Operation({ id: 'getAppReport', tag: 'Reports', summary: 'Report on an application' })
  @Fails('app_not_found')
  @ApiOkResponse({ type: AppReportResponse })
  report(@OwnApp() { id, revision }: AppRow): AppReportResponse {
    return { app_id: id, revision };
  }

  @Post('reports/apps/export')
  @AdminAccess('write', { role: 'owner' })
  @Operation({ id: 'exportApps', tag: 'Reports', summary: 'Export applications' })
  @ApiCreatedResponse({ type: AppCountResponse })
  async export(@Admin() admin: AdminPrincipal): Promise<AppCountResponse> {
    return { apps: await this.reports.exportApps(admin) };
  }

  @Get('reports/staff')
  @ManagementAccess({ scheme: 'management', needs: 'read' }, StaffGuard)
  @Operation({ id: 'countAppsForStaff', tag: 'Reports', summary: 'Count applications, for people of the company' })
  @ApiOkResponse({ type: AppCountResponse })
  async countForStaff(@Admin() admin: AdminPrincipal): Promise<AppCountResponse> {
    return { apps: await this.reports.countApps(admin) };
  }
}
