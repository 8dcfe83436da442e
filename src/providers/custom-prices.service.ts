import { Injectable } from '@nestjs/common';
import { toCustomPriceMap } from '../pricing/custom-pricing.rules.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import { ProvidersRepository } from './providers.repository.js';

/** Custom prices of provider instances, including disabled ones. */
@Injectable()
export class CustomPrices {
  constructor(private readonly providers: ProvidersRepository) {}

  /**
   * The account's current custom prices for `PriceBook.find`, by the id of the provider instance; deleted instances are
   * absent.
   */
  async pricesByProvider(organizationId: string): Promise<ReadonlyMap<string, ReadonlyMap<string, CompiledPrice>>> {
    const rows = await this.providers.list(organizationId);
    return new Map(rows.map((row) => [row.id, toCustomPriceMap(row.pricing)]));
  }
}
