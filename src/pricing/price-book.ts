import { LRUCache } from 'lru-cache';
import type { ProviderType } from '../upstreams/provider-types.js';
import { type CompiledPrice, compilePrice } from './model-price.js';
import { findModelId, type PriceCatalog } from './price-catalog.js';

/** No model id is longer (contract-app 10); what clients send may be. */
const MODEL_MAX_LENGTH = 200;
/** Per provider type: far above what one service uses, far below what an attacker could make us keep. */
const REMEMBERED_ALIASES = 512;

interface Alias {
  readonly price: CompiledPrice | undefined;
}

interface Section {
  readonly prices: ReadonlyMap<string, CompiledPrice>;
  readonly aliases: LRUCache<string, Alias>;
}

/** Answers what a model costs. Reads are synchronous and constant in time; memory is bounded whatever clients ask for. */
export class PriceBook {
  readonly #catalog: PriceCatalog;
  readonly #sections: ReadonlyMap<string, Section>;

  constructor(catalog: PriceCatalog) {
    this.#catalog = catalog;
    this.#sections = new Map(
      Object.entries(catalog).map(([type, models]) => [
        type,
        {
          prices: new Map(Object.entries(models).map(([model, price]) => [model, compilePrice(price)])),
          aliases: new LRUCache<string, Alias>({ max: REMEMBERED_ALIASES }),
        },
      ]),
    );
  }

  /**
   * The price of a model: the provider instance's own, which replaces the catalog's completely; else the catalog's
   * under exactly this name; else that of the model this name is a snapshot or alias of.
   *
   * @param model any text a client chose.
   * Source: contract-app 9.4 "Price lookup", decision 3.12.
   */
  find(type: ProviderType, model: string, custom?: ReadonlyMap<string, CompiledPrice>): CompiledPrice | undefined {
    const own = custom?.get(model);
    if (own !== undefined) return own;
    const section = this.#sections.get(type);
    return section?.prices.get(model) ?? (section && this.#findByAlias(type, section, model));
  }

  /** The catalog in its wire shape; custom prices are not part of it. */
  list(): PriceCatalog {
    return this.#catalog;
  }

  #findByAlias(type: ProviderType, section: Section, model: string): CompiledPrice | undefined {
    if (model.length > MODEL_MAX_LENGTH) return undefined;
    const known = section.aliases.get(model);
    if (known !== undefined) return known.price;
    const id = findModelId(type, model);
    const price = id === undefined ? undefined : section.prices.get(id);
    section.aliases.set(model, { price });
    return price;
  }
}
