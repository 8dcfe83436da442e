import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app-row.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { Admin } from '../identity/admin-access.decorator.js';
import type { AdminPrincipal } from '../identity/admin-principal.js';
import { SettleEstimatesRequest } from './dto/settle-estimates.request.js';
import { SettleEstimatesResponse } from './dto/settle-estimates.response.js';
import { SettleEstimates } from './settle-estimates.service.js';

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class SettleEstimatesController {
  constructor(private readonly settle: SettleEstimates) {}

  @Post('apps/:app/usage/settle-estimates')
  @HttpCode(200)
  @AdminAppAccess('write')
  @Operation({
    id: 'settleAppEstimates',
    tag: 'Admin operations',
    summary: 'Replace the estimates of one month by what the calls cost',
    description:
      'For calls whose usage is unknown, and which count an estimate against budgets. Only says what would change unless `apply` is true; then all of it is written, and budgets have it at once. At most 10 000 events, the oldest, are taken at a time: `has_more` says whether to repeat it. Events older than 90 days are left out. A settled event has no estimate any more and is not repriced.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: SettleEstimatesResponse })
  run(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Body() body: SettleEstimatesRequest,
  ): Promise<SettleEstimatesResponse> {
    return this.settle.run(admin, app, body.toOrder()).then(SettleEstimatesResponse.from);
  }
}
