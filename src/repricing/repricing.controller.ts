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
    summary: 'Recompute the cost of a model in one month at the prices now known',
    description:
      'Each event gets the price of its UTC day. A preview unless `apply` is true; then all changes are written, or none if an event has no price. Reported costs, refused requests and events older than 90 days are not changed. At most 10 000 events.',
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
    summary: 'Replace the estimates of one month by actual costs',
    description:
      'For calls whose usage is unknown, and which count an estimate against budgets. A preview unless `apply` is true; then all changes are written, and budgets include them at once. At most 10 000 events at a time, the oldest first: `has_more` says whether to repeat. Events older than 90 days are not included. A settled event no longer has an estimate and is not repriced.',
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
