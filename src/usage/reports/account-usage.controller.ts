import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { AccountUsageReports } from './account-usage.service.js';
import { AccountBreakdownRequest, AccountTimeseriesRequest, AccountUsageRequest } from './dto/account-usage.request.js';
import {
  AccountBreakdownResponse,
  AccountTimeseriesResponse,
  AccountUsageResponse,
} from './dto/account-usage.response.js';

const TAG = 'Admin operations';

@Controller('v1/admin/usage')
export class AccountUsageController {
  constructor(private readonly reports: AccountUsageReports) {}

  @Get()
  @AdminAccess('read')
  @Operation({
    id: 'getUsage',
    tag: TAG,
    summary: 'Usage of the account',
    description:
      'UTC days, the last thirty by default, of all applications, deleted ones included, or of one. `previous` is the period before: the previous month of a calendar month, otherwise as many days.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: AccountUsageResponse })
  summary(
    @Admin() { organizationId }: AdminPrincipal,
    @Query() query: AccountUsageRequest,
  ): Promise<AccountUsageResponse> {
    return this.reports.summaryOf(query.scopeIn(organizationId), query).then(AccountUsageResponse.from);
  }

  @Get('timeseries')
  @AdminAccess('read')
  @Operation({
    id: 'getUsageTimeseries',
    tag: TAG,
    summary: 'Usage of the account day by day, or hour by hour',
    description: 'UTC days, the last thirty by default; with `unit=hour` the hours of one day, today by default.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: AccountTimeseriesResponse })
  timeseries(
    @Admin() { organizationId }: AdminPrincipal,
    @Query() query: AccountTimeseriesRequest,
  ): Promise<AccountTimeseriesResponse> {
    return this.reports
      .timeseriesOf(query.scopeIn(organizationId), query.toQuestion())
      .then(AccountTimeseriesResponse.from);
  }

  @Get('breakdown')
  @AdminAccess('read')
  @Operation({
    id: 'getUsageBreakdown',
    tag: TAG,
    summary: 'Usage of the account by one dimension',
    description:
      'UTC days; the last thirty by default. By `app`, `model`, `provider` and `status` it covers all time, by others the last 90 days; `complete_from` is the first day that the rows cover completely.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: AccountBreakdownResponse })
  breakdown(
    @Admin() { organizationId }: AdminPrincipal,
    @Query() query: AccountBreakdownRequest,
  ): Promise<AccountBreakdownResponse> {
    return this.reports
      .breakdownOf(query.scopeIn(organizationId), query.toQuestion())
      .then(AccountBreakdownResponse.from);
  }
}
