import type { BuiltInType } from '../upstreams/provider-types.js';
import type { ModelPrice } from './model-price.js';

/**
 * What we know better than the price library. An entry that is a whole price replaces the library's (or adds the
 * model); an entry that is only part of one corrects those members.
 * Source: docs/reference/accounting.md#price-list-and-dates.
 */
export const CATALOG_OVERLAY: Partial<Record<BuiltInType, Readonly<Record<string, ModelPrice>>>> = {
  openai: {
    // The library's tiers start one token too early for a threshold that itself still bills the normal rate.
    'gpt-5.6-sol': { long_context_threshold: 272_000 },
    // Sold by the minute; the library spells it per hour.
    'whisper-1': { per_minute: 0.006 },
    // The library's name of all moderation models. It knows that they cost nothing, but not as a price.
    moderation: { input: 0, output: 0 },
  },
  // The library has one fee for a request, that of a search that brings in much context; answers say how much it was.
  perplexity: {
    sonar: { per_1k_requests_low_context: 5, per_1k_requests_medium_context: 8 },
    'sonar-reasoning': { per_1k_requests_low_context: 5, per_1k_requests_medium_context: 8 },
    'sonar-pro': { per_1k_requests_low_context: 6, per_1k_requests_medium_context: 10 },
    'sonar-reasoning-pro': { per_1k_requests_low_context: 6, per_1k_requests_medium_context: 10 },
  },
  xai: {
    'grok-4.5': { long_context_threshold: 200_000 },
    // The library has no price for this provider's transcription.
    'grok-transcribe': { per_hour: 0.1 },
  },
};
