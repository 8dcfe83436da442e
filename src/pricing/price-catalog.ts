import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices';
import type { BuiltInType, ProviderType } from '../upstreams/provider-types.js';
import { CATALOG_OVERLAY } from './catalog-overlay.js';
import { startDaysOf, toModelPrice } from './library-price.rules.js';
import { isBillable, type ModelPrice } from './model-price.js';

/** Prices by model id; without a prototype, because a model may be named `constructor`. */
type CatalogSection = Readonly<Record<string, ModelPrice>>;

/**
 * The catalog as the API presents it; a type without a section has no catalog prices.
 * Source: docs/reference/management-api.md#price-list.
 */
export type PriceCatalog = Readonly<Partial<Record<BuiltInType, CatalogSection>>>;

/**
 * Library id of each provider type; null where the library has none. Types that ship without a section (fireworks,
 * huggingface, openrouter) are absent.
 */
const LIBRARY_IDS = {
  openai: 'openai',
  anthropic: 'anthropic',
  xai: 'x-ai',
  gemini: 'google',
  perplexity: 'perplexity',
  deepseek: 'deepseek',
  groq: 'groq',
  mistral: 'mistral',
  together: 'together',
  cerebras: 'cerebras',
  moonshot: 'moonshotai',
  baseten: 'baseten',
  bytedance: null,
} as const satisfies Partial<Record<BuiltInType, string | null>>;

type CataloguedType = keyof typeof LIBRARY_IDS;

const CATALOGUED_TYPES = Object.keys(LIBRARY_IDS).filter(isCatalogued);

/**
 * Builds the catalog from the price library and the overlay. Takes a few milliseconds; callers cache the result.
 *
 * @param utcDay `YYYY-MM-DD`; selects the dated prices in force.
 * Source: docs/reference/accounting.md#price-list-and-dates.
 */
export function buildPriceCatalog(utcDay: string): PriceCatalog {
  const catalog: Partial<Record<BuiltInType, CatalogSection>> = Object.create(null);
  for (const type of CATALOGUED_TYPES) catalog[type] = buildSection(type, utcDay);
  return catalog;
}

/** UTC days `YYYY-MM-DD` on which a catalog price changes, ascending, without duplicates. */
export function priceChangeDays(): readonly string[] {
  const days = CATALOGUED_TYPES.flatMap(libraryModels).flatMap(startDaysOf);
  return [...new Set(days)].sort();
}

/**
 * Catalog id of a model given by another name (a dated snapshot, `-latest`), by the matching of the library. Takes
 * microseconds; callers cache the result. The id may have no price here: the library also lists free models and models
 * of other labs in the same cloud.
 */
export function findModelId(type: ProviderType, alias: string): string | undefined {
  const providerId = isCatalogued(type) ? LIBRARY_IDS[type] : null;
  if (providerId === null) return undefined;
  return calcPrice({}, alias, { providerId })?.model.id;
}

/** Context window of a model or of the model behind an alias, in tokens, if the library lists it. */
export function findContextTokens(type: ProviderType, alias: string): number | undefined {
  const providerId = isCatalogued(type) ? LIBRARY_IDS[type] : null;
  return providerId === null ? undefined : calcPrice({}, alias, { providerId })?.model.context_window;
}

function buildSection(type: CataloguedType, utcDay: string): CatalogSection {
  const section: Record<string, ModelPrice> = Object.create(null);
  for (const model of libraryModels(type)) {
    // The library lists the models of the whole Google cloud under one id; this API serves Gemini models only.
    if (type === 'gemini' && model.id.startsWith('claude-')) continue;
    const price = toModelPrice(model, utcDay);
    if (isBillable(price)) section[model.id] = price;
  }
  for (const [model, ours] of Object.entries(CATALOG_OVERLAY[type] ?? {})) {
    const price = isBillable(ours) ? ours : { ...section[model], ...ours };
    if (isBillable(price)) section[model] = price;
  }
  return section;
}

function libraryModels(type: CataloguedType): readonly ModelInfo[] {
  const providerId = LIBRARY_IDS[type];
  return providerId === null ? [] : (findProvider({ providerId })?.models ?? []);
}

function isCatalogued(type: string): type is CataloguedType {
  return Object.hasOwn(LIBRARY_IDS, type);
}
