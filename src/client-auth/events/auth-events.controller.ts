import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AdminAppAccess, OwnApp } from '../../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../../app-directory/app.entity.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { AuthEventReports } from './auth-event-reports.service.js';
import { AuthEventSummaryRequest, ListAuthEventsRequest } from './dto/auth-events.request.js';
import { AuthEventSummaryResponse, AuthEventsResponse } from './dto/auth-events.response.js';

const TAG = 'Admin operations';

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class AuthEventsController {
  constructor(private readonly reports: AuthEventReports) {}

  @Get('apps/:app/auth-events')
  @AdminAppAccess('read')
  @Operation({
    id: 'listAppAuthEvents',
    tag: TAG,
    summary: 'Attempts to register devices and to exchange tokens',
    description: 'Newest first. Pass `next_before_id` as `before_id` to get the next page.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: AuthEventsResponse })
  list(@OwnApp() app: AppRow, @Query() query: ListAuthEventsRequest): Promise<AuthEventsResponse> {
    return this.reports.pageOf(app, query.toFilter()).then(AuthEventsResponse.from);
  }

  @Get('apps/:app/auth-events/summary')
  @AdminAppAccess('read')
  @Operation({
    id: 'getAppAuthEventSummary',
    tag: TAG,
    summary: 'Summarize the attempts of the last days',
    description: 'Days are UTC; the last one is today.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: AuthEventSummaryResponse })
  summary(@OwnApp() app: AppRow, @Query() query: AuthEventSummaryRequest): Promise<AuthEventSummaryResponse> {
    return this.reports.summaryOf(app, query.chosenDays()).then(AuthEventSummaryResponse.from);
  }
}
