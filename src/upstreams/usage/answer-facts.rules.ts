import { type JsonObject } from '../../common/json-object.js';
import type { ApiStyle } from '../api-style.rules.js';
import type { BuiltInType, ProviderType } from '../provider-types.js';
import { measureIn, memberOf, objectIn, objectsIn, textIn } from './json-fields.rules.js';
import type { TierPart, UsageReading } from './token-counts.js';
import { openAiUsageOf } from './usage-openai.rules.js';

const NANO_PER_USD = 1e9;
/** xAI reports ticks of 1e-10 USD. */
const TICKS_PER_NANO_USD = 10;
/** One million dollars: the sum of 9 000 such calls still fits a 64-bit integer. */
export const MOST_NANO_USD_OF_A_CALL = 1_000_000_000_000_000;
const MAX_NAME_LENGTH = 256;

/** Cost and billing facts that a provider reports. */
export type ReportedCost = Pick<
  UsageReading,
  'reportedCostNanoUsd' | 'servedModel' | 'servedProvider' | 'credentialSource' | 'implausible'
>;

type CostReader = (document: JsonObject) => ReportedCost;

/** Forms in which a provider type reports costs; null: the type reports none, and no form of another type is read. */
const COST_READERS: Readonly<Record<BuiltInType, CostReader | null>> = {
  openai: null,
  anthropic: null,
  xai: readXaiCost,
  gemini: null,
  perplexity: null,
  deepseek: null,
  groq: null,
  mistral: null,
  together: null,
  fireworks: null,
  cerebras: null,
  moonshot: null,
  huggingface: null,
  baseten: null,
  bytedance: null,
  openrouter: readOpenRouterCost,
};

/** The reader of costs that a provider type reports; null where it reports none, as for types of extensions. */
export function costReaderOf(type: ProviderType): CostReader | null {
  return isBuiltIn(type) ? COST_READERS[type] : null;
}

function isBuiltIn(type: ProviderType): type is BuiltInType {
  return Object.hasOwn(COST_READERS, type);
}

/**
 * Cost reported by xAI, at the root or inside a Responses event. Source: docs/reference/accounting.md#reported-costs.
 */
function readXaiCost(document: JsonObject): ReportedCost {
  const ticks = measureIn(openAiUsageOf(document), 'cost_in_usd_ticks');
  return ticks === undefined ? {} : reported(Math.trunc(ticks) / TICKS_PER_NANO_USD);
}

/**
 * Cost reported by OpenRouter, and the provider that served the request. The upstream cost is an additional charge only
 * where the call used the customer's key; other calls repeat their cost there.
 * Source: docs/reference/accounting.md#reported-costs.
 */
function readOpenRouterCost(document: JsonObject): ReportedCost {
  const usage = objectIn(document, 'usage');
  const metadata = objectIn(document, 'openrouter_metadata');
  const byok = memberOf(usage, 'is_byok') === true || memberOf(metadata, 'is_byok') === true;
  const upstream = byok ? (measureIn(objectIn(usage, 'cost_details'), 'upstream_inference_cost') ?? 0) : 0;
  const own = measureIn(usage, 'cost');
  return {
    ...(own === undefined ? {} : reported(nanoUsd(own) + nanoUsd(upstream))),
    servedModel: textIn(document, 'model', MAX_NAME_LENGTH),
    servedProvider: selectedProvider(metadata) ?? textIn(document, 'provider', MAX_NAME_LENGTH),
    credentialSource: byok ? 'byok' : undefined,
  };
}

function selectedProvider(metadata: JsonObject | undefined): string | undefined {
  const available = objectsIn(objectIn(metadata, 'endpoints'), 'available') ?? [];
  const selected = available.find((endpoint) => memberOf(endpoint, 'selected') === true);
  return textIn(selected, 'provider', MAX_NAME_LENGTH);
}

/** Converts dollars to the nearest nano-dollar. */
function nanoUsd(usd: number): number {
  return Math.round(usd * NANO_PER_USD);
}

/** Rejects a cost beyond the maximum of one call, NaN included. */
function reported(costNanoUsd: number): ReportedCost {
  if (!(costNanoUsd <= MOST_NANO_USD_OF_A_CALL)) return { implausible: true };
  return { reportedCostNanoUsd: Math.round(costNanoUsd) };
}

const MAX_TIER_LENGTH = 64;

/** Lower-case names of the tier that price lists apply to. `auto`: the provider has not reported the tier. */
const STANDARD_TIERS: ReadonlySet<string> = new Set([
  ...['standard', 'default', 'auto', 'standard_only', 'on_demand', 'unspecified', 'traffic_type_unspecified'],
  ...['service_tier_standard', 'service_tier_unspecified'],
]);
/** Inference locations without a surcharge. */
const NORMAL_PLACES: ReadonlySet<string> = new Set(['global', 'not_available']);

/** Members that name the service tier. */
const NAMES_OF_TIERS = ['service_tier', 'service_tier_used', 'serviceTier', 'trafficType'] as const;

/** Other members that affect the price, with the lower-case values that mean the standard price. */
const SURCHARGED_MEMBERS = [
  { name: 'speed', standard: STANDARD_TIERS },
  { name: 'inference_geo', standard: NORMAL_PLACES },
] as const;

/** Lower-case names of tiers that cost less than the standard tier. */
const CHEAPER_TIERS: ReadonlySet<string> = new Set([
  ...['flex', 'batch', 'service_tier_flex', 'service_tier_batch', 'on_demand_flex'],
]);

const TIER_NAME = /^(?:service_tier_|on_demand_)?(flex|priority|batch)$/;

/** The part of usage that marks a service tier; undefined for tiers that no price has rates for. */
export function tierPartOf(tier: string | undefined): TierPart | undefined {
  switch (TIER_NAME.exec(tier?.toLowerCase() ?? '')?.[1]) {
    case 'flex':
      return 'flex_tier';
    case 'priority':
      return 'priority_tier';
    case 'batch':
      return 'batch_tier';
    default:
      return undefined;
  }
}

/** Values of an answer that has not decided about its tier. */
const UNDECIDED_TIERS: ReadonlySet<string> = new Set([
  ...['auto', 'unspecified', 'traffic_type_unspecified', 'service_tier_unspecified'],
]);

/**
 * The service tier that an answer or stream event says it had, the standard one included. Looks at the root, in the
 * wrapped response or message, and in the usage; of several, the most expensive applies. Undefined: none, or undecided.
 */
export function tierNamedIn(document: JsonObject): string | undefined {
  const named = placesOfTiers(document)
    .flatMap((place) => NAMES_OF_TIERS.flatMap((name) => textIn(place, name, MAX_TIER_LENGTH) ?? []))
    .filter((tier) => !UNDECIDED_TIERS.has(tier.toLowerCase()));
  return dearestTier(named.filter(isOtherTier)) ?? named[0];
}

/** Whether a named tier is another than the standard one. */
export function isOtherTier(tier: string | undefined): boolean {
  return tier !== undefined && !STANDARD_TIERS.has(tier.toLowerCase());
}

/** The speed or inference location that an answer or stream event names, if it may have a surcharge. */
export function surchargeIn(document: JsonObject): string | undefined {
  const named = placesOfTiers(document).flatMap((place) =>
    SURCHARGED_MEMBERS.flatMap(({ name, standard }) => {
      const value = textIn(place, name, MAX_TIER_LENGTH);
      return value === undefined || standard.has(value.toLowerCase()) ? [] : [value];
    }),
  );
  return dearestTier(named);
}

/** Whether a tier other than the standard one costs more than it, or an unknown amount. */
export function isDearerTier(tier: string | undefined): boolean {
  return tier !== undefined && !CHEAPER_TIERS.has(tier.toLowerCase());
}

/** The one of several tiers that may cost most; the first of equals. */
export function dearestTier(tiers: readonly (string | undefined)[]): string | undefined {
  return tiers.find(isDearerTier) ?? tiers.find((tier) => tier !== undefined);
}

function placesOfTiers(document: JsonObject): readonly (JsonObject | undefined)[] {
  const response = objectIn(document, 'response');
  return [
    ...[
      document,
      response,
      objectIn(document, 'interaction'),
      objectIn(document, 'usage'),
      objectIn(response, 'usage'),
    ],
    ...[objectIn(objectIn(document, 'message'), 'usage'), objectIn(document, 'usageMetadata')],
  ];
}

const ID = /^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/;
/**
 * Whether a value has the form of a provider's id: 1 to 256 printable ASCII characters without quotes and backslashes.
 */
export function isProviderId(value: unknown): value is string {
  return typeof value === 'string' && ID.test(value);
}

const ID_IN_EVENT =
  /"(?:response|interaction)"\s{0,16}:\s{0,16}\{\s{0,16}"id"\s{0,16}:\s{0,16}"([\x21\x23-\x5b\x5d-\x7e]{1,256})"/;
const ID_AT_ROOT = /^\s{0,16}\{\s{0,16}"id"\s{0,16}:\s{0,16}"([\x21\x23-\x5b\x5d-\x7e]{1,256})"/;

/**
 * Whether an answer may contain a provider-side response object or interaction; `other` includes Responses paths
 * without a named style.
 */
export function mayHaveResponseId(style: ApiStyle): boolean {
  return style === 'responses' || style === 'gemini_interactions' || style === 'other';
}

/** The id of the response object or interaction in a stream event or a complete answer. */
export function responseIdOf(style: ApiStyle, document: JsonObject): string | undefined {
  if (!mayHaveResponseId(style)) return undefined;
  const response = objectIn(document, style === 'gemini_interactions' ? 'interaction' : 'response');
  const isEvent = memberOf(document, 'event_type') !== undefined;
  const isResponse = (style !== 'other' && !isEvent) || memberOf(document, 'object') === 'response';
  const id = response === undefined && isResponse ? memberOf(document, 'id') : memberOf(response, 'id');
  return isProviderId(id) ? id : undefined;
}

/**
 * Finds the id in the first bytes of an event that is truncated or too long to parse; the id must be the first member.
 */
export function responseIdInEventHead(head: string): string | undefined {
  return ID_IN_EVENT.exec(head)?.[1];
}

/** Finds the id in the first bytes of a Responses document; the id must be the first member. */
export function responseIdInDocumentHead(head: string): string | undefined {
  return ID_AT_ROOT.exec(head)?.[1];
}

/**
 * Seconds of audio in a transcription answer: the figure in `usage`, else the duration of the recording.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function readAudioSeconds(document: JsonObject): number | undefined {
  const usage = objectIn(document, 'usage');
  return measureIn(usage, 'seconds') ?? measureIn(usage, 'prompt_audio_seconds') ?? measureIn(document, 'duration');
}
