import type { BuiltInType } from '../upstreams/provider-types.js';
import type { ModelPrice } from './model-price.js';

/**
 * Corrections of the price library. An entry with a complete price replaces the library's entry or adds the model. A
 * partial entry overrides the members it has.
 * Source: docs/reference/accounting.md#price-list-and-dates.
 */
export const CATALOG_OVERLAY: Partial<Record<BuiltInType, Readonly<Record<string, ModelPrice>>>> = {
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
