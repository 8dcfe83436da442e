import { type BillableUsage, costNanoUsd } from '../pricing/cost.rules.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import type { UsageParts } from '../upstreams/usage/token-counts.js';
import { wholeNumber } from '../usage/recording/event/usage-line.rules.js';
import type { CostSource } from '../usage/recording/usage-event.js';
import { estimateOf, toUsd } from '../usage/reports/usage-totals.rules.js';
import type { EventCost } from './event-costs.repository.js';

const MS_PER_SECOND = 1000;

/** A stored event to reprice; `bigint` columns are texts. */
export interface PricedEventRow {
  readonly id: string;
  readonly provider_id: string | null;
  /** Milliseconds since the Unix epoch, UTC. */
  readonly created_at_ms: string;
  readonly input_tokens: string;
  readonly cached_input_tokens: string;
  readonly cache_write_tokens: string;
  readonly output_tokens: string;
  readonly audio_input_tokens: string;
  readonly audio_output_tokens: string;
  readonly audio_milliseconds: string;
  readonly usage_parts: UsageParts | null;
  readonly cost_nano_usd: string;
  /** Null: equal to the cost. */
  readonly charged_nano_usd: string | null;
  readonly cost_source: CostSource | null;
}

/** Result of repricing; costs in whole nano-dollars. */
export interface RepricePlan {
  /** Events whose cost, charge or cost source changes. */
  readonly changes: readonly EventCost[];
  /** Events that can be repriced, including those without usage. */
  readonly matchedEvents: number;
  readonly unmeteredEvents: number;
  readonly unpricedEvents: number;
  readonly unpricedNanoUsd: bigint;
  readonly previousNanoUsd: bigint;
  readonly recalculatedNanoUsd: bigint;
}

/** A reprice plan as the API returns it. Source: docs/reference/accounting.md#repricing. */
export interface RepriceFigures {
  readonly matched_events: number;
  readonly unmetered_events: number;
  readonly unpriced_events: number;
  readonly unpriced_cost_usd: number;
  readonly previous_cost_usd: number;
  readonly recalculated_cost_usd: number;
  readonly delta_usd: number;
}

/**
 * Recomputes event costs at the current prices for each event's day. An event without usage costs nothing and keeps its
 * source and estimate. An unresolved event with a known part above 0 stays unresolved, with a new cost of that part,
 * and keeps its estimate. Every other event becomes computed, without an estimate.
 *
 * @param priceOf the price of the serving provider instance at a time, in milliseconds since the Unix epoch.
 * Source: docs/reference/accounting.md#repricing.
 */
export function planReprice(
  events: readonly PricedEventRow[],
  priceOf: (providerId: string | null, atMs: number) => CompiledPrice | undefined,
): RepricePlan {
  const changes: EventCost[] = [];
  let [unmeteredEvents, unpricedEvents] = [0, 0];
  let [unpriced, previous, recalculated] = [0n, 0n, 0n];
  for (const event of events) {
    const usage = billableUsage(event);
    const metered = isMetered(usage);
    const price = priceOf(event.provider_id, Number(event.created_at_ms));
    const cost = metered ? repricedCost(event, usage, price) : unmeteredCost(event);
    if (cost === undefined) {
      unpricedEvents++;
      unpriced += BigInt(event.cost_nano_usd);
      continue;
    }
    if (!metered) unmeteredEvents++;
    previous += BigInt(event.cost_nano_usd);
    recalculated += BigInt(cost.costNanoUsd);
    if (differs(event, cost)) changes.push(cost);
  }
  return {
    changes,
    matchedEvents: events.length - unpricedEvents,
    unmeteredEvents,
    unpricedEvents,
    unpricedNanoUsd: unpriced,
    previousNanoUsd: previous,
    recalculatedNanoUsd: recalculated,
  };
}

export function toFigures(plan: RepricePlan): RepriceFigures {
  return {
    matched_events: plan.matchedEvents,
    unmetered_events: plan.unmeteredEvents,
    unpriced_events: plan.unpricedEvents,
    unpriced_cost_usd: toUsd(String(plan.unpricedNanoUsd)),
    previous_cost_usd: toUsd(String(plan.previousNanoUsd)),
    recalculated_cost_usd: toUsd(String(plan.recalculatedNanoUsd)),
    delta_usd: toUsd(String(plan.recalculatedNanoUsd - plan.previousNanoUsd)),
  };
}

/**
 * Stored usage of an event. Fractions of a millisecond of audio are not stored, so a new cost can differ from the first
 * one at the same price.
 */
function billableUsage(event: PricedEventRow): BillableUsage {
  return {
    inputTokens: Number(event.input_tokens),
    cachedInputTokens: Number(event.cached_input_tokens),
    cacheWriteTokens: Number(event.cache_write_tokens),
    outputTokens: Number(event.output_tokens),
    audioInputTokens: Number(event.audio_input_tokens),
    audioCachedInputTokens: event.usage_parts?.cached_audio_input ?? 0,
    audioOutputTokens: Number(event.audio_output_tokens),
    parts: event.usage_parts ?? undefined,
    audioSeconds: Number(event.audio_milliseconds) / MS_PER_SECOND,
  };
}

function isMetered({ audioSeconds = 0, parts, ...tokens }: BillableUsage): boolean {
  const { inputTokens, cachedInputTokens, cacheWriteTokens, outputTokens } = tokens;
  const isAsked = parts?.requests !== undefined;
  return inputTokens + cachedInputTokens + cacheWriteTokens + outputTokens > 0 || audioSeconds > 0 || isAsked;
}

function differs(event: PricedEventRow, { costNanoUsd, chargedNanoUsd, costSource }: EventCost): boolean {
  const charged = chargedNanoUsd === null ? null : String(chargedNanoUsd);
  return (
    String(costNanoUsd) !== event.cost_nano_usd ||
    charged !== event.charged_nano_usd ||
    costSource !== event.cost_source
  );
}

function unmeteredCost(event: PricedEventRow): EventCost {
  return { id: event.id, costNanoUsd: 0, chargedNanoUsd: keptCharge(event, 0), costSource: event.cost_source };
}

function keptCharge(event: PricedEventRow, costNanoUsd: number): number | null {
  const estimate = Number(estimateOf(event));
  return estimate === 0 ? null : costNanoUsd + estimate;
}

function repricedCost(
  event: PricedEventRow,
  usage: BillableUsage,
  price: CompiledPrice | undefined,
): EventCost | undefined {
  const cost = price && costNanoUsd(price, usage);
  if (cost === undefined || 'unresolved' in cost) return undefined;
  const nanoUsd = wholeNumber(cost.nanoUsd);
  if (!usedUnpricedTools(event))
    return { id: event.id, costNanoUsd: nanoUsd, chargedNanoUsd: null, costSource: 'computed' };
  const chargedNanoUsd = keptCharge(event, nanoUsd);
  return { id: event.id, costNanoUsd: nanoUsd, chargedNanoUsd, costSource: 'unresolved' };
}

/**
 * Whether the event is unresolved with a known part above 0, for example token costs beside unpriced tool calls.
 *
 * Source: docs/reference/accounting.md#cost-sources.
 */
function usedUnpricedTools({ cost_source, cost_nano_usd }: PricedEventRow): boolean {
  return cost_source === 'unresolved' && cost_nano_usd !== '0';
}
