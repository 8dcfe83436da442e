import type { LRUCache } from 'lru-cache';
import { type Clock, dayStartMs, instantOf } from '../common/clock.js';
import { lruCache } from '../common/lru-cache.js';
import { MAX_MODEL_LENGTH, type ProviderType } from '../upstreams/provider-types.js';
import { bareModelName } from './model-alias.rules.js';
import { type CompiledPrice, compilePrice } from './model-price.js';
import { findModelId, type PriceCatalog, withModels } from './price-catalog.js';

/**
 * Cache entries per provider type: above the names one instance uses, and a bound on what clients can make it store.
 */
const REMEMBERED_ALIASES = 512;

/** Source of the catalog per day. */
export interface PriceSource {
  /** UTC days `YYYY-MM-DD` on which a price changes, ascending. Prices are constant between two of them. */
  readonly changeDays: readonly string[];
  /** The catalog of a UTC day, `YYYY-MM-DD`. */
  catalogOn(utcDay: string): PriceCatalog;
}

/** Prices between two change days; `untilMs` is exclusive. */
interface Period {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly catalog: PriceCatalog;
  readonly sections: ReadonlyMap<string, ReadonlyMap<string, CompiledPrice>>;
}

/**
 * Looks up the price of a model on a day. Reads are synchronous and take constant time, except for the first read of a
 * period. Memory is bounded whatever clients send ([ADR 0032](../../docs/adr/0032-dated-prices-and-usage-parts.md)).
 */
export class PriceBook {
  readonly #changesMs: readonly number[];
  /** Keyed by the number of preceding changes; built on first use. */
  readonly #periods = new Map<number, Period>();
  /** Catalog ids of aliases, by provider type; they do not depend on the day. */
  readonly #aliases = new Map<ProviderType, LRUCache<string, { readonly id: string | undefined }>>();
  #latest: Period | undefined;
  /** Models of the price file. */
  #models: PriceCatalog = {};

  constructor(
    private readonly source: PriceSource,
    private readonly clock: Clock,
  ) {
    this.#changesMs = source.changeDays.map(dayStartMs);
  }

  /**
   * Finds the price of a model. The custom price of the provider instance replaces the catalog price completely. Next
   * comes the catalog price of exactly this name, then that of the model which lists this name, without the suffix of a
   * version, as its own. No other prefix of a name finds a price.
   *
   * @param model any text a client sent.
   * @param atMs an instant of the UTC day of the price, in milliseconds since the Unix epoch; default now.
   * Source: docs/reference/accounting.md#cost-of-a-call, docs/reference/management-api.md#custom-prices.
   */
  find(
    type: ProviderType,
    model: string,
    custom?: ReadonlyMap<string, CompiledPrice>,
    atMs: number = this.clock.nowMs(),
  ): CompiledPrice | undefined {
    const name = bareModelName(type, model);
    const own = custom?.get(model) ?? custom?.get(name);
    if (own !== undefined) return own;
    const section = this.#at(atMs).sections.get(type);
    return section?.get(name) ?? (section && this.#findByAlias(type, section, name));
  }

  /**
   * The catalog in its wire shape, without custom prices: the same object until a price changes.
   *
   * @param atMs an instant of its UTC day, in milliseconds since the Unix epoch; default now.
   */
  list(atMs: number = this.clock.nowMs()): PriceCatalog {
    return this.#at(atMs).catalog;
  }

  /** The models with a catalog price today. */
  modelsOf(type: ProviderType): Iterable<string> {
    return this.#at(this.clock.nowMs()).sections.get(type)?.keys() ?? [];
  }

  /** From now on these models have these prices on every day, in place of the catalog's. */
  replaceModels(models: PriceCatalog): void {
    this.#models = models;
    this.#latest = undefined;
    this.#periods.clear();
    this.#aliases.clear();
  }

  #at(atMs: number): Period {
    const latest = this.#latest;
    if (latest !== undefined && atMs >= latest.fromMs && atMs < latest.untilMs) return latest;
    const period = this.#periodOf(atMs);
    this.#latest = period;
    return period;
  }

  #periodOf(atMs: number): Period {
    const next = this.#changesMs.findIndex((changeMs) => changeMs > atMs);
    const changes = next === -1 ? this.#changesMs.length : next;
    const known = this.#periods.get(changes);
    if (known !== undefined) return known;
    const fromMs = this.#changesMs[changes - 1] ?? Number.NEGATIVE_INFINITY;
    const untilMs = this.#changesMs[changes] ?? Number.POSITIVE_INFINITY;
    const catalog = withModels(this.source.catalogOn(utcDayOf(atMs)), this.#models);
    const period = { fromMs, untilMs, catalog, sections: compileCatalog(catalog) };
    this.#periods.set(changes, period);
    return period;
  }

  #findByAlias(
    type: ProviderType,
    section: ReadonlyMap<string, CompiledPrice>,
    model: string,
  ): CompiledPrice | undefined {
    if (model.length > MAX_MODEL_LENGTH) return undefined;
    const aliases = this.#aliasesOf(type);
    let known = aliases.get(model);
    if (known === undefined) {
      known = { id: findModelId(type, model, section) };
      aliases.set(model, known);
    }
    return known.id === undefined ? undefined : section.get(known.id);
  }

  #aliasesOf(type: ProviderType): LRUCache<string, { readonly id: string | undefined }> {
    let aliases = this.#aliases.get(type);
    if (aliases === undefined) {
      aliases = lruCache(REMEMBERED_ALIASES);
      this.#aliases.set(type, aliases);
    }
    return aliases;
  }
}

function compileCatalog(catalog: PriceCatalog): ReadonlyMap<string, ReadonlyMap<string, CompiledPrice>> {
  return new Map(
    Object.entries(catalog).map(([type, models]) => [
      type,
      new Map(Object.entries(models).map(([model, price]) => [model, compilePrice(price)])),
    ]),
  );
}

function utcDayOf(atMs: number): string {
  return instantOf(atMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}
