import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ProviderType } from '../upstreams/provider-types.js';
import { outputLimitOf } from './output-limits.rules.js';
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
  readonly #known = new LRUCache<string, Known>({ max: REMEMBERED_MODELS });

  /**
   * Maximum output of one choice, in tokens; undefined where it is unknown.
   *
   * @param model canonical name of at most 200 characters. Source: ADR 0044.
   */
  find(type: ProviderType, model: string): number | undefined {
    const name = `${type}\n${model}`;
    let known = this.#known.get(name);
    if (known === undefined) {
      known = { tokens: outputLimitOf(type, model, findContextTokens(type, model), UNLIMITED_OUTPUT_TOKENS) };
      this.#known.set(name, known);
    }
    return known.tokens;
  }
}
