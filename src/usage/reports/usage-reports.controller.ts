import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AdminAppAccess, OwnApp } from '../../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../../app-directory/app.entity.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { UsageEventsResponse } from './dto/usage-events.response.js';
import {
  ListEventsRequest,
  MonthUsageRequest,
  UsageBreakdownRequest,
  UsageTimeseriesRequest,
} from './dto/usage-reports.request.js';
import { MonthUsageResponse, UsageBreakdownResponse, UsageTimeseriesResponse } from './dto/usage-reports.response.js';
import { UsageReports } from './usage-reports.service.js';

const TAG = 'Admin operations';
/** Two methods repeat it, which keeps the published order of their parameters. */
const APP_PARAM = { name: 'app', description: 'Id of the application.', schema: { type: 'string' } } as const;

@Controller('v1/admin')
@ApiParam(APP_PARAM)
export class UsageReportsController {
  constructor(private readonly reports: UsageReports) {}

  @Get('apps/:app/usage')
  @AdminAppAccess('read')
  @Operation({
    id: 'getAppUsage',
    tag: TAG,
    summary: 'Usage of an application in one month',
    description: 'UTC calendar months; the current one by default.',
  })
  @ApiParam(APP_PARAM)
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: MonthUsageResponse })
  month(@OwnApp() app: AppRow, @Query() query: MonthUsageRequest): Promise<MonthUsageResponse> {
    return this.reports.monthOf(app, query.month).then(MonthUsageResponse.from);
  }

  @Get('apps/:app/events')
  @AdminAppAccess('read')
  @Operation({
    id: 'listAppEvents',
    tag: TAG,
    summary: 'Recorded requests of an application',
    description: 'Newest first. Pass `next_before_id` as `before_id` to get the next page.',
  })
  @ApiParam(APP_PARAM)
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UsageEventsResponse })
  list(@OwnApp() app: AppRow, @Query() query: ListEventsRequest): Promise<UsageEventsResponse> {
    return this.reports.pageOf(app, query.toFilter()).then(UsageEventsResponse.from);
  }

  @Get('apps/:app/usage/timeseries')
  @AdminAppAccess('read')
  @Operation({
    id: 'getAppUsageTimeseries',
    tag: TAG,
    summary: 'Usage of an application day by day',
    description: 'UTC days; the last thirty by default.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UsageTimeseriesResponse })
  timeseries(@OwnApp() app: AppRow, @Query() query: UsageTimeseriesRequest): Promise<UsageTimeseriesResponse> {
    return this.reports.timeseriesOf(app, query).then(UsageTimeseriesResponse.from);
  }

  @Get('apps/:app/usage/breakdown')
  @AdminAppAccess('read')
  @Operation({
    id: 'getAppUsageBreakdown',
    tag: TAG,
    summary: 'Usage of an application by one dimension',
    description:
      'UTC days; the last thirty by default. By `model`, `provider` and `status` it covers all time, by others the last 90 days; `complete_from` is the first day that the rows cover completely.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UsageBreakdownResponse })
  breakdown(@OwnApp() app: AppRow, @Query() query: UsageBreakdownRequest): Promise<UsageBreakdownResponse> {
    return this.reports.breakdownOf(app, query.toQuestion()).then(UsageBreakdownResponse.from);
  }
}
