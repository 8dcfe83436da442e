import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { UsageEventsResponse } from './dto/usage-events.response.js';
import { ListEventsRequest, MonthUsageRequest } from './dto/usage-reports.request.js';
import { MonthUsageResponse } from './dto/usage-reports.response.js';
import { UsageService } from './usage.service.js';

const TAG = 'Admin operations';
const APP_PARAM = { name: 'app', type: 'string', description: 'Id of the application.' } as const;

@Controller('v1/admin')
export class UsageController {
  constructor(private readonly usage: UsageService) {}

  @Get('apps/:app/usage')
  @AdminAppAccess('read')
  @Operation({
    id: 'getAppUsage',
    tag: TAG,
    summary: 'Usage of an application in one month',
    description: 'Months are UTC calendar months; the current one when none is named.',
  })
  @ApiParam(APP_PARAM)
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: MonthUsageResponse })
  month(@OwnApp() app: AppRow, @Query() query: MonthUsageRequest): Promise<MonthUsageResponse> {
    return this.usage.monthOf(app, query.month).then(MonthUsageResponse.from);
  }

  @Get('apps/:app/events')
  @AdminAppAccess('read')
  @Operation({
    id: 'listAppEvents',
    tag: TAG,
    summary: 'Recorded requests of an application',
    description: 'Newest first. Pass `next_before_id` as `before_id` to get the page after this one.',
  })
  @ApiParam(APP_PARAM)
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UsageEventsResponse })
  list(@OwnApp() app: AppRow, @Query() query: ListEventsRequest): Promise<UsageEventsResponse> {
    return this.usage.pageOf(app, query.toFilter()).then(UsageEventsResponse.from);
  }
}
