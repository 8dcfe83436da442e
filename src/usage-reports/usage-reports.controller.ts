import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { UsageBreakdownRequest, UsageTimeseriesRequest } from './dto/usage-reports.request.js';
import { UsageBreakdownResponse, UsageTimeseriesResponse } from './dto/usage-reports.response.js';
import { UsageReports } from './usage-reports.service.js';

const TAG = 'Admin operations';

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class UsageReportsController {
  constructor(private readonly reports: UsageReports) {}

  @Get('apps/:app/usage/timeseries')
  @AdminAppAccess('read')
  @Operation({
    id: 'getAppUsageTimeseries',
    tag: TAG,
    summary: 'Usage of an application day by day',
    description: 'Days are UTC; the last thirty when none are named.',
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
    summary: 'Usage of an application by what it was used for',
    description:
      'Days are UTC; the last thirty when none are named. By `model`, `provider` and `status` it reaches back to the first request; the rest is known of the last 90 days alone: what is older is left out, and `complete_from` says from which day on the rows are complete.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UsageBreakdownResponse })
  breakdown(@OwnApp() app: AppRow, @Query() query: UsageBreakdownRequest): Promise<UsageBreakdownResponse> {
    return this.reports.breakdownOf(app, query.toQuestion()).then(UsageBreakdownResponse.from);
  }
}
