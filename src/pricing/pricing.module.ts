import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { Clock } from '../common/clock.js';
import { OutputLimits } from './output-limits.service.js';
import { PriceBook } from './price-book.js';
import { buildPriceCatalog, priceChangeDays } from './price-catalog.js';
import { PricesController } from './prices.controller.js';

/**
 * Model prices, maximum output, and the cost of usage: the catalog of each UTC day and custom prices.
 *
 * Tables: none. Routes: `/v1/admin/prices`.
 */
@Module({
  imports: [AccessModule],
  controllers: [PricesController],
  providers: [
    OutputLimits,
    {
      provide: PriceBook,
      useFactory: (clock: Clock) =>
        new PriceBook({ changeDays: priceChangeDays(), catalogOn: buildPriceCatalog }, clock),
      inject: [Clock],
    },
  ],
  exports: [OutputLimits, PriceBook],
})
export class PricingModule {}
