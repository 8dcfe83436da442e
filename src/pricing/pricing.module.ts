import { Module } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { IdentityModule } from '../identity/identity.module.js';
import { PriceBook } from './price-book.js';
import { buildPriceCatalog } from './price-catalog.js';
import { PricesController } from './prices.controller.js';

/**
 * What models cost: the catalog, custom prices, and the cost of a usage. The catalog is built once, at the start, from
 * the prices in force on that UTC day.
 *
 * Tables: none. Routes: `/v1/admin/prices`.
 */
@Module({
  imports: [IdentityModule],
  controllers: [PricesController],
  providers: [
    {
      provide: PriceBook,
      useFactory: (clock: Clock) => new PriceBook(buildPriceCatalog(clock.utcDay())),
      inject: [Clock],
    },
  ],
  exports: [PriceBook],
})
export class PricingModule {}
