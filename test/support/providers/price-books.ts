import { PriceBook } from '../../../src/pricing/price-book.js';
import type { PriceCatalog } from '../../../src/pricing/price-catalog.js';
import { FakeClock } from '../clock.js';

/** A price book whose prices never change. */
export function aPriceBook(catalog: PriceCatalog): PriceBook {
  return new PriceBook({ changeDays: [], catalogOn: () => catalog }, new FakeClock());
}
