import { Injectable } from '@nestjs/common';
import { lruCache } from '../common/lru-cache.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import { bareModelName } from './model-alias.rules.js';
import { OUTPUT_LIMITS } from './output-limits.js';
import { findContextTokens } from './price-catalog.js';

/** Assumed output tokens of one choice without a known limit. */
export const UNLIMITED_OUTPUT_TOKENS = 131_072;
/** Cache capacity: above the models of one instance in use, and a bound on what clients can make it store. */
const REMEMBERED_MODELS = 1_000;

interface Known {
  readonly tokens: number | undefined;
}

/** Looks up the maximum output of a model. */
@Injectable()
export class OutputLimits {
  readonly #known = lruCache<Known>(REMEMBERED_MODELS);

  /**
   * Maximum output of one choice, in tokens; undefined where it is unknown.
   *
   * @param model canonical name of at most 200 characters. Source: ADR 0017.
   */
  find(type: ProviderType, model: string): number | undefined {
    const bare = bareModelName(type, model);
    const name = `${type}\n${bare}`;
    let known = this.#known.get(name);
    if (known === undefined) {
      known = { tokens: outputLimitOf(type, bare, findContextTokens(type, bare), UNLIMITED_OUTPUT_TOKENS) };
      this.#known.set(name, known);
    }
    return known.tokens;
  }
}

/** Snapshot suffixes of providers: `-2024-08-06`, `-20250514`, `-0613`, `-001`, `-latest`. */
const SNAPSHOT = /-(?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|\d{3}|latest)$/;

/**
 * Maximum output of a model, in tokens per choice; undefined where it is unknown.
 *
 * @param contextTokens context window of the model in the price library, if listed. It bounds the output. The library
 *   rounds it, so the next power of two applies, and only where that is below `fallback`.
 * @param fallback limit the caller assumes where none is known. Source: ADR 0017.
 */
export function outputLimitOf(
  type: ProviderType,
  model: string,
  contextTokens: number | undefined,
  fallback: number,
): number | undefined {
  const known = tableOf(type);
  const limit = known?.get(model) ?? known?.get(model.replace(SNAPSHOT, ''));
  if (limit !== undefined) return limit;
  if (contextTokens === undefined || contextTokens <= 0) return undefined;
  const bound = 2 ** Math.ceil(Math.log2(contextTokens));
  return bound < fallback ? bound : undefined;
}

const TABLES: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  Object.entries(OUTPUT_LIMITS).map(([type, limits]) => [type, new Map(Object.entries(limits))]),
);

function tableOf(type: ProviderType): ReadonlyMap<string, number> | undefined {
  return TABLES.get(type);
}
