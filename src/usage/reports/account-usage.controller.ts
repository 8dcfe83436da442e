import { Readable } from 'node:stream';
import { Controller, Get, Query, StreamableFile } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { AccountEvents } from './account-events.service.js';
import { AccountUsageReports } from './account-usage.service.js';
import { AccountEventsCsvRequest, AccountEventsRequest } from './dto/account-events.request.js';
import { AccountEventsResponse } from './dto/account-events.response.js';
import {
  AccountBreakdownCsvRequest,
  AccountBreakdownRequest,
  AccountTimeseriesRequest,
  AccountUsageRequest,
} from './dto/account-usage.request.js';
import {
  AccountBreakdownResponse,
  AccountTimeseriesResponse,
  AccountUsageResponse,
} from './dto/account-usage.response.js';

const TAG = 'Admin operations';
const CSV_TYPE = 'text/csv; charset=utf-8';
const CSV = {
  content: { 'text/csv': { schema: { type: 'string', example: '"model","requests"\r\n"gpt-4.1","2"\r\n' } } },
} as const;

@Controller('v1/admin/usage')
export class AccountUsageController {
  constructor(
    private readonly reports: AccountUsageReports,
    private readonly events: AccountEvents,
  ) {}

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

  @Get('breakdown.csv')
  @AdminAccess('read')
  @Operation({
    id: 'getUsageBreakdownCsv',
    tag: TAG,
    summary: 'Usage of the account by one dimension, as CSV',
    description: 'All rows of the breakdown. Money is exact, in US dollars.',
  })
  @Fails('invalid_request')
  @ApiOkResponse(CSV)
  async breakdownCsv(
    @Admin() { organizationId }: AdminPrincipal,
    @Query() query: AccountBreakdownCsvRequest,
  ): Promise<StreamableFile> {
    const lines = await this.reports.breakdownLines(query.scopeIn(organizationId), query.toQuestion());
    return new StreamableFile(Readable.from(lines), { type: CSV_TYPE });
  }

  @Get('events')
  @AdminAccess('read')
  @Operation({
    id: 'listUsageEvents',
    tag: TAG,
    summary: 'Recorded requests of the account',
    description:
      'Newest first; UTC days, the last thirty by default. Pass `next` as `before` to get the next page. Each ' +
      'request searches a part of the period, so a page that is not full may have a `next`.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: AccountEventsResponse })
  list(
    @Admin() { organizationId }: AdminPrincipal,
    @Query() query: AccountEventsRequest,
  ): Promise<AccountEventsResponse> {
    return this.events
      .pageOf(query.scopeIn(organizationId), query.toFilter(), query.toPage())
      .then(AccountEventsResponse.from);
  }

  @Get('events.csv')
  @AdminAccess('read')
  @Operation({
    id: 'getUsageEventsCsv',
    tag: TAG,
    summary: 'Recorded requests of the account, as CSV',
    description: 'All of the period, newest first, as they are read. Money is exact, in US dollars.',
  })
  @Fails('invalid_request')
  @ApiOkResponse(CSV)
  async csv(
    @Admin() { organizationId }: AdminPrincipal,
    @Query() query: AccountEventsCsvRequest,
  ): Promise<StreamableFile> {
    const lines = await this.events.linesOf(query.scopeIn(organizationId), query.toFilter());
    return new StreamableFile(Readable.from(lines), { type: CSV_TYPE });
  }
}
