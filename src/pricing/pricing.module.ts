import { Module } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { IdentityModule } from '../identity/identity.module.js';
import { OutputLimits } from './output-limits.service.js';
import { PriceBook } from './price-book.js';
import { buildPriceCatalog, priceChangeDays } from './price-catalog.js';
import { PricesController } from './prices.controller.js';

/**
 * What models cost and how long their answers can be: the catalog of each UTC day, custom prices, and the cost of a usage.
 *
 * Tables: none. Routes: `/v1/admin/prices`.
 */
@Module({
  imports: [IdentityModule],
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
