import { type JsonObject, measureIn, memberOf, objectIn, objectsIn, textIn } from './json-fields.rules.js';
import { openAiUsageOf } from './usage-openai.rules.js';
import type { UsageReading } from './usage-reading.js';

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

/**
 * Cost reported by xAI, at the root or inside a Responses event. Source: docs/reference/accounting.md#reported-costs.
 */
export function readXaiCost(document: JsonObject): ReportedCost {
  const ticks = measureIn(openAiUsageOf(document), 'cost_in_usd_ticks');
  return ticks === undefined ? {} : reported(Math.trunc(ticks) / TICKS_PER_NANO_USD);
}

/**
 * Cost reported by OpenRouter, including what it paid upstream with the customer's key, and the provider that served
 * the request.
 * Source: docs/reference/accounting.md#reported-costs.
 */
export function readOpenRouterCost(document: JsonObject): ReportedCost {
  const usage = objectIn(document, 'usage');
  const metadata = objectIn(document, 'openrouter_metadata');
  const upstream = measureIn(objectIn(usage, 'cost_details'), 'upstream_inference_cost') ?? 0;
  const own = measureIn(usage, 'cost');
  const byok = memberOf(usage, 'is_byok') === true || memberOf(metadata, 'is_byok') === true || upstream > 0;
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
