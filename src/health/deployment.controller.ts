import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { Operation } from '../common/http/openapi.decorators.js';
import { DeploymentReport } from './deployment.service.js';
import { DeploymentResponse } from './dto/deployment.response.js';

@Controller('v1/admin/deployment')
export class DeploymentController {
  constructor(private readonly report: DeploymentReport) {}

  @Get()
  @AdminAccess('read', { role: 'owner' })
  @Operation({
    id: 'getDeployment',
    tag: 'Operations',
    summary: 'Read the state of the deployment',
    description: 'Only for owners of the first account. Instances as of the last heartbeat.',
  })
  @ApiOkResponse({ type: DeploymentResponse })
  async read(@Admin() admin: AdminPrincipal): Promise<DeploymentResponse> {
    return DeploymentResponse.from(await this.report.read(admin));
  }
}
