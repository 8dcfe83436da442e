import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { AdminAccess } from '../accounts/access/admin-access.decorator.js';
import { dayStartMs } from '../common/clock.js';
import { isCalendarDay } from '../common/day-range.rules.js';
import { invalidRequest } from '../common/errors/gateway-error.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { ListPricesRequest } from './dto/list-prices.request.js';
import { PriceListResponse } from './dto/price-list.response.js';
import { PriceBook } from './price-book.js';

@Controller('v1/admin')
export class PricesController {
  constructor(private readonly prices: PriceBook) {}

  @Get('prices')
  @AdminAccess('read')
  @Operation({
    id: 'listModelPrices',
    tag: 'Admin models',
    summary: 'List the price catalog',
    description:
      'The prices of a UTC day, the current one when absent, in US dollars. A call is priced by the day it was made on; prices of later days are those that are announced. Custom prices of a provider are part of the provider, not of this list.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: PriceListResponse })
  list(@Query() { day }: ListPricesRequest): PriceListResponse {
    if (day !== undefined && !isCalendarDay(day)) throw invalidRequest('day', 'is not a day of the calendar');
    return PriceListResponse.from(this.prices.list(day === undefined ? undefined : dayStartMs(day)));
  }
}
