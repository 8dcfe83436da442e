import { findProvider, type ModelInfo } from '@pydantic/genai-prices';
import { BUILT_IN_TYPES, type BuiltInType, type ProviderType } from '../upstreams/provider-types.js';
import { startDaysOf, toModelPrice } from './library-price.rules.js';
import { listedNamesOf, namesOfEntry } from './model-alias.rules.js';
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

/** The catalog with further models; those that it has too are replaced completely. */
export function withModels(catalog: PriceCatalog, models: PriceCatalog): PriceCatalog {
  const merged: Partial<Record<BuiltInType, CatalogSection>> = Object.assign(Object.create(null), catalog);
  for (const type of BUILT_IN_TYPES) {
    if (models[type] !== undefined) merged[type] = Object.assign(Object.create(null), catalog[type], models[type]);
  }
  return merged;
}

/** UTC days `YYYY-MM-DD` on which a catalog price changes, ascending, without duplicates. */
export function priceChangeDays(): readonly string[] {
  const days = CATALOGUED_TYPES.flatMap(libraryModels).flatMap(startDaysOf);
  return [...new Set(days)].sort();
}

/**
 * Catalog id of a model given by another name: a listed alias, or a listed name with the suffix of a version. The id
 * may have no price here: the library also lists free models and models of other labs in the same cloud.
 *
 * @param listedIds further ids of the type.
 * Source: docs/reference/accounting.md#price-lookup.
 */
export function findModelId(
  type: ProviderType,
  alias: string,
  listedIds?: Pick<ReadonlyMap<string, unknown>, 'has'>,
): string | undefined {
  const ids = isCatalogued(type) ? idsOf(type) : undefined;
  const idOf = (listed: string) => (listedIds?.has(listed) ? listed : ids?.get(listed));
  return listedNamesOf(alias)
    .map(idOf)
    .find((id) => id !== undefined);
}

/** Context window of a model or of the model behind an alias, in tokens, if the library lists it. */
export function findContextTokens(type: ProviderType, alias: string): number | undefined {
  const id = findModelId(type, alias);
  if (id === undefined || !isCatalogued(type)) return undefined;
  return libraryModels(type).find((model) => model.id === id)?.context_window;
}

const idsByType = new Map<CataloguedType, ReadonlyMap<string, string>>();

/** Ids by every listed name of a type; built once. A name that is an id is its own. */
function idsOf(type: CataloguedType): ReadonlyMap<string, string> {
  const known = idsByType.get(type);
  if (known !== undefined) return known;
  const ids = new Map<string, string>();
  const models = libraryModels(type);
  const own = [...models.map(({ id }) => id), ...Object.keys(CATALOG_OVERLAY[type] ?? {})];
  for (const id of own) ids.set(id, id);
  for (const [name, id] of Object.entries(ALIASES[type] ?? {})) ids.set(name, id);
  for (const model of models) {
    for (const name of namesOfEntry(model)) if (!ids.has(name)) ids.set(name, model.id);
  }
  idsByType.set(type, ids);
  return ids;
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

/**
 * Aliases that the library does not list in full. A name that its provider moves from model to model has the entry of
 * the most expensive model of its kind.
 */
const ALIASES: Partial<Record<BuiltInType, Readonly<Record<string, string>>>> = {
  openai: {
    'computer-use-preview': 'computer-use',
    'omni-moderation': 'moderation',
    'text-moderation': 'moderation',
    'text-moderation-stable': 'moderation',
  },
  gemini: {
    'gemini-flash-latest': 'gemini-3.5-flash',
    'gemini-flash-lite-latest': 'gemini-3.5-flash-lite',
    'gemini-pro-latest': 'gemini-3.1-pro-preview',
  },
};
