import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Operation } from '../../common/http/openapi.decorators.js';
import { ProviderUseResponse } from '../dto/provider-use.response.js';
import { ProviderUseService } from './provider-use.service.js';

@Controller('v1/admin')
export class ProviderUseController {
  constructor(private readonly use: ProviderUseService) {}

  @Get('providers/usage')
  @AdminAccess('read')
  @Operation({
    id: 'getProviderUsage',
    tag: 'Admin providers',
    summary: 'Read the use and the results of the provider instances',
    description:
      'For each instance the applications that can reach it, by routing or by an endpoint, and its calls of the last seven UTC days. A call that a fallback answered counts for the fallback.',
  })
  @ApiOkResponse({ type: ProviderUseResponse })
  async get(@Admin() admin: AdminPrincipal): Promise<ProviderUseResponse> {
    return ProviderUseResponse.from(await this.use.of(admin.organizationId));
  }
}
