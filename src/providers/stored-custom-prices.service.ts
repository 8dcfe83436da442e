import { Injectable } from '@nestjs/common';
import { CustomPrices } from '../pricing/custom-prices.js';
import { toCustomPriceMap } from '../pricing/custom-pricing.rules.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import { ProvidersRepository } from './providers.repository.js';

/** Answers what the rooms of usage ask about custom prices, disabled instances included. */
@Injectable()
export class StoredCustomPrices extends CustomPrices {
  constructor(private readonly providers: ProvidersRepository) {
    super();
  }

  async pricesByProvider(organizationId: string): Promise<ReadonlyMap<string, ReadonlyMap<string, CompiledPrice>>> {
    const rows = await this.providers.list(organizationId);
    return new Map(rows.map((row) => [row.id, toCustomPriceMap(row.pricing)]));
  }
}
