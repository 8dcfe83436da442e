import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ProviderType } from '../upstreams/provider-types.js';
import { outputLimitOf } from './output-limits.rules.js';
import { findContextTokens } from './price-catalog.js';

/** Generated tokens of one choice that nothing limits. */
export const UNLIMITED_OUTPUT_TOKENS = 131_072;
/** Far above what one service uses, far below what clients could make us keep. */
const REMEMBERED_MODELS = 1_000;

interface Known {
  readonly tokens: number | undefined;
}

/** Answers how long an answer of a model can be. */
@Injectable()
export class OutputLimits {
  readonly #known = new LRUCache<string, Known>({ max: REMEMBERED_MODELS });

  /**
   * The longest answer of one choice, in tokens; undefined where that is not known.
   *
   * @param model the canonical one, of at most 200 characters. Source: ADR 0044.
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
