import type { CompiledPrice } from './model-price.js';

/**
 * What other rooms must know of the custom prices of provider instances. A port, because the room of providers stands
 * on this one: it implements it.
 */
export abstract class CustomPrices {
  /**
   * The account's custom prices as they are stored now, for `PriceBook.find`, by the id of the provider instance;
   * instances that are gone are absent.
   */
  abstract pricesByProvider(organizationId: string): Promise<ReadonlyMap<string, ReadonlyMap<string, CompiledPrice>>>;
}
