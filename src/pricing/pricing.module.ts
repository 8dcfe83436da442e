import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { Clock } from '../common/clock.js';
import { Log } from '../common/log/log.js';
import { Environment } from '../platform/config/environment.js';
import { OutputLimits } from './output-limits.service.js';
import { PriceBook } from './price-book.js';
import { buildPriceCatalog, priceChangeDays } from './price-catalog.js';
import { PriceFile } from './price-file.js';
import { PricesController } from './prices.controller.js';

/** Poll interval of the price file. */
const LOOK_EVERY_MS = 2_000;

/**
 * Model prices, maximum output, and the cost of usage: the catalog of each UTC day, `PRICES_FILE` and custom prices.
 *
 * Tables: none. Routes: `/v1/admin/prices`. Log lines: prices_file_read, prices_file_unreadable.
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
    {
      provide: PriceFile,
      useFactory: ({ PRICES_FILE: path }: Environment, prices: PriceBook, log: Log) =>
        PriceFile.open({ path, prices, log, everyMs: LOOK_EVERY_MS }),
      inject: [Environment, PriceBook, Log],
    },
  ],
  exports: [OutputLimits, PriceBook, PriceFile],
})
export class PricingModule {}
