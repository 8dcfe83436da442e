import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app-row.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { Admin } from '../identity/admin-access.decorator.js';
import type { AdminPrincipal } from '../identity/admin-principal.js';
import { RepriceUsageRequest } from './dto/reprice-usage.request.js';
import { RepriceUsageResponse } from './dto/reprice-usage.response.js';
import { UsageRepriceService } from './usage-reprice.service.js';

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class UsageRepriceController {
  constructor(private readonly reprice: UsageRepriceService) {}

  @Post('apps/:app/usage/reprice')
  @HttpCode(200)
  @AdminAppAccess('write')
  @Operation({
    id: 'repriceAppUsage',
    tag: 'Admin operations',
    summary: 'Recompute what a model cost in one month at the prices known now',
    description:
      'Every event takes the price of its own UTC day. Only says what would change unless `apply` is true; then all of it is written, or nothing when an event has no price. Costs that the provider reported stay as they are, refused requests and events older than 90 days are left out, and at most 10 000 events are taken at once.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: RepriceUsageResponse })
  run(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Body() body: RepriceUsageRequest,
  ): Promise<RepriceUsageResponse> {
    return this.reprice.run(admin, app, body.toOrder()).then(RepriceUsageResponse.from);
  }
}
