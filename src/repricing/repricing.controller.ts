import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Admin } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { RepriceUsageRequest, SettleEstimatesRequest } from './dto/repricing.request.js';
import { RepriceUsageResponse, SettleEstimatesResponse } from './dto/repricing.response.js';
import { SettleEstimates } from './settle-estimates.service.js';
import { UsageRepriceService } from './usage-reprice.service.js';

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class RepricingController {
  constructor(
    private readonly reprice: UsageRepriceService,
    private readonly settle: SettleEstimates,
  ) {}

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
  repriceUsage(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Body() body: RepriceUsageRequest,
  ): Promise<RepriceUsageResponse> {
    return this.reprice.run(admin, app, body.toOrder()).then(RepriceUsageResponse.from);
  }

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
  settleEstimates(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Body() body: SettleEstimatesRequest,
  ): Promise<SettleEstimatesResponse> {
    return this.settle.run(admin, app, body.toOrder()).then(SettleEstimatesResponse.from);
  }
}
