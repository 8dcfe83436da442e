import { wholeNumber } from '../usage/event/usage-line.rules.js';
import type { CostSource, UsageStatus } from '../usage/usage-event.js';
import { estimateOf, toUsd } from '../usage-reports/usage-totals.rules.js';
import type { EventCost } from './event-costs.repository.js';

/** Events in the sample of a response. */
const SAMPLE_EVENTS = 20;
const NANO_USD_PER_USD = 1_000_000_000;

/** Replacement of each estimate: zero, the estimate itself, or an amount in US dollars. */
export type SettledCost = 'zero' | 'estimate' | { readonly usd: number };

/** A stored event with an estimate; `bigint` columns are texts. */
export interface EstimatedEventRow {
  readonly id: string;
  readonly provider_type: string;
  readonly model: string;
  readonly status: UsageStatus;
  /** ISO 8601. */
  readonly created_at: string;
  readonly cost_nano_usd: string;
  readonly charged_nano_usd: string;
  readonly cost_source: CostSource | null;
}

/** One event before and after, as the API returns it. */
export interface SettledEvent {
  readonly id: number;
  readonly created_at: string;
  readonly provider: string;
  readonly model: string;
  readonly status: UsageStatus;
  readonly previous_cost_usd: number;
  readonly previous_estimated_cost_usd: number;
  readonly cost_usd: number;
  readonly estimated_cost_usd: number;
}

/** Result of settling, as the API returns it. */
export interface SettleFigures {
  readonly matched_events: number;
  readonly has_more: boolean;
  readonly previous_cost_usd: number;
  readonly previous_estimated_cost_usd: number;
  readonly settled_cost_usd: number;
  readonly settled_estimated_cost_usd: number;
  /** New budget charge minus the old one. */
  readonly delta_usd: number;
  readonly sample: readonly SettledEvent[];
}

export interface SettlePlan {
  readonly changes: readonly EventCost[];
  readonly figures: SettleFigures;
}

/**
 * Plans the settlement. Each event costs its known part plus the replacement of its estimate. It has no estimate any
 * more and is computed, unless its provider reported the known part.
 *
 * @param events at most `most` + 1; one more than `most` means that further events match.
 * @param most maximum events to settle.
 * Source: ADR 0043.
 */
export function planSettlement(
  events: readonly EstimatedEventRow[],
  cost: SettledCost,
  most: number,
  settledAtMs: number,
): SettlePlan {
  const taken = events.slice(0, most);
  const changes = taken.map((event) => settled(event, cost, settledAtMs));
  const sumOf = (amounts: readonly (string | number)[]) => amounts.reduce((sum, one) => sum + BigInt(one), 0n);
  const previousCost = sumOf(taken.map((event) => event.cost_nano_usd));
  const previousEstimate = sumOf(taken.map(estimateOf));
  const settledCost = sumOf(changes.map((change) => change.costNanoUsd));
  return {
    changes,
    figures: {
      matched_events: taken.length,
      has_more: events.length > most,
      previous_cost_usd: toUsd(String(previousCost)),
      previous_estimated_cost_usd: toUsd(String(previousEstimate)),
      settled_cost_usd: toUsd(String(settledCost)),
      settled_estimated_cost_usd: 0,
      delta_usd: toUsd(String(settledCost - previousCost - previousEstimate)),
      sample: taken.slice(0, SAMPLE_EVENTS).map((event, at) => shown(event, changes[at]?.costNanoUsd ?? 0)),
    },
  };
}

function settled(event: EstimatedEventRow, cost: SettledCost, settledAtMs: number): EventCost {
  const known = Number(event.cost_nano_usd);
  return {
    id: event.id,
    costNanoUsd: wholeNumber(known + replacement(event, cost)),
    chargedNanoUsd: null,
    costSource: event.cost_source === 'reported' ? 'reported' : 'computed',
    settledAtMs,
  };
}

function replacement(event: EstimatedEventRow, cost: SettledCost): number {
  if (cost === 'zero') return 0;
  return cost === 'estimate' ? Number(estimateOf(event)) : wholeNumber(cost.usd * NANO_USD_PER_USD);
}

function shown(event: EstimatedEventRow, costNanoUsd: number): SettledEvent {
  return {
    id: Number(event.id),
    created_at: event.created_at,
    provider: event.provider_type,
    model: event.model,
    status: event.status,
    previous_cost_usd: toUsd(event.cost_nano_usd),
    previous_estimated_cost_usd: toUsd(estimateOf(event)),
    cost_usd: toUsd(String(costNanoUsd)),
    estimated_cost_usd: 0,
  };
}
