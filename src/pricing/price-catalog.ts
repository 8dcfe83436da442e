import { calcPrice, findProvider, type ModelInfo } from '@pydantic/genai-prices';
import type { BuiltInType, ProviderType } from '../upstreams/provider-types.js';
import { CATALOG_OVERLAY } from './catalog-overlay.js';
import { startDaysOf, toModelPrice } from './library-price.rules.js';
import { isBillable, type ModelPrice } from './model-price.js';

/** Model ids of one provider type; without a prototype, because a model may be called `constructor`. */
type CatalogSection = Readonly<Record<string, ModelPrice>>;

/**
 * The catalog as clients read it; a type without a section has no prices of ours.
 *
 * Source: docs/reference/management-api.md#price-list.
 */
export type PriceCatalog = Readonly<Partial<Record<BuiltInType, CatalogSection>>>;

/**
 * The library's name of each provider type; null where it has none yet. fireworks, huggingface and openrouter are left
 * out: they ship without a section.
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
 * Builds the catalog from the price library and our overlay; takes a few milliseconds: callers keep the answer.
 *
 * @param utcDay `YYYY-MM-DD`; decides which dated prices are in force.
 * Source: docs/reference/accounting.md#price-list-and-dates.
 */
export function buildPriceCatalog(utcDay: string): PriceCatalog {
  const catalog: Partial<Record<BuiltInType, CatalogSection>> = Object.create(null);
  for (const type of CATALOGUED_TYPES) catalog[type] = buildSection(type, utcDay);
  return catalog;
}

/** The UTC days `YYYY-MM-DD` on which a price of the catalog changes, ascending, each once. */
export function priceChangeDays(): readonly string[] {
  const days = CATALOGUED_TYPES.flatMap(libraryModels).flatMap(startDaysOf);
  return [...new Set(days)].sort();
}

/**
 * The catalog's own id of a model that goes by another name (a dated snapshot, `-latest`), by the library's matching.
 * Costs microseconds: callers remember the answer. The id may have no price here: the library also knows models that
 * cost nothing, and other labs' models of the same cloud.
 */
export function findModelId(type: ProviderType, alias: string): string | undefined {
  const providerId = isCatalogued(type) ? LIBRARY_IDS[type] : null;
  if (providerId === null) return undefined;
  return calcPrice({}, alias, { providerId })?.model.id;
}

/** The whole context of a model or of the one it is an alias of, in tokens, as the library has it, if it does. */
export function findContextTokens(type: ProviderType, alias: string): number | undefined {
  const providerId = isCatalogued(type) ? LIBRARY_IDS[type] : null;
  return providerId === null ? undefined : calcPrice({}, alias, { providerId })?.model.context_window;
}

function buildSection(type: CataloguedType, utcDay: string): CatalogSection {
  const section: Record<string, ModelPrice> = Object.create(null);
  for (const model of libraryModels(type)) {
    // The library files the lab's whole cloud under one name; this API serves only its own models.
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
