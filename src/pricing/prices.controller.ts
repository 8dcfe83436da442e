import { Controller, Get } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { AdminAccess } from '../accounts/access/admin-access.decorator.js';
import { Operation } from '../common/http/openapi.decorators.js';
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
      'The prices of the current UTC day, in US dollars. A call is priced by the day it was made on. Custom prices of a provider are part of the provider, not of this list.',
  })
  @ApiOkResponse({ type: PriceListResponse })
  list(): PriceListResponse {
    return PriceListResponse.from(this.prices.list());
  }
}
