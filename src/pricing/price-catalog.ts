import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices';
import type { BuiltInType, ProviderType } from '../upstreams/provider-types.js';
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

/**
 * Corrections of the price library. An entry with a complete price replaces the library's entry or adds the model. A
 * partial entry overrides the members it has.
 * Source: docs/reference/accounting.md#price-list-and-dates.
 */
const CATALOG_OVERLAY: Partial<Record<BuiltInType, Readonly<Record<string, ModelPrice>>>> = {
  openai: {
    // The library's long-context tier starts one token too early: the threshold itself still bills the normal rate.
    'gpt-5.6-sol': { long_context_threshold: 272_000 },
    // Billed per minute; the library states the rate per hour.
    'whisper-1': { per_minute: 0.006 },
    // The library has one entry for all moderation models. It marks them as free but gives no price.
    moderation: { input: 0, output: 0 },
  },
  // The library has one fee per request, that of a search with high context. The answer states the context size.
  perplexity: {
    sonar: { per_1k_requests_low_context: 5, per_1k_requests_medium_context: 8 },
    'sonar-reasoning': { per_1k_requests_low_context: 5, per_1k_requests_medium_context: 8 },
    'sonar-pro': { per_1k_requests_low_context: 6, per_1k_requests_medium_context: 10 },
    'sonar-reasoning-pro': { per_1k_requests_low_context: 6, per_1k_requests_medium_context: 10 },
  },
  xai: {
    'grok-4.5': { long_context_threshold: 200_000 },
    // The library has no price for xAI transcription.
    'grok-transcribe': { per_hour: 0.1 },
  },
};
