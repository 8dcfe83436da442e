import { invalidRequest } from '../common/errors/gateway-error.js';
import { Optional, objectOf, Required } from '../common/fields/config-fields.js';
import { type Read, requireStorableText } from '../common/fields/config-values.js';
import { MAX_MODEL_LENGTH, PROVIDER_TYPES } from '../upstreams/provider-types.js';
import { wholeNumber } from '../usage/recording/event/usage-line.rules.js';
import { type CostSource, USAGE_STATUSES, type UsageStatus } from '../usage/recording/usage-event.js';
import { estimateOf, toUsd } from '../usage/reports/usage-totals.rules.js';
import type { EventCost } from './event-costs.repository.js';

/** Far above the cost of any call; keeps sums of many events exact. */
const MOST_USD = 10_000;
const MOST_EVENT_IDS = 1_000;
const EVENT_ID = /^[1-9]\d{0,15}$/;

/** Filter of the events to settle; absent members do not filter. */
export interface SettleFilter {
  /** A provider type. */
  readonly provider?: string;
  readonly model?: string;
  readonly status?: string;
  /** Ids as the event list returns them. */
  readonly eventIds?: readonly string[];
}

const dollars: Read<number> = (value, path) => {
  if (typeof value === 'number' && value >= 0 && value <= MOST_USD) return value;
  throw invalidRequest(path, `must be a number from 0 to ${MOST_USD}`);
};

const modelText: Read<string> = (value, path) => {
  if (typeof value !== 'string' || value.length === 0 || value.length > MAX_MODEL_LENGTH) {
    throw invalidRequest(path, `must be text of 1 to ${MAX_MODEL_LENGTH} characters`);
  }
  requireStorableText(value, path);
  return value;
};

const eventIdList: Read<readonly string[]> = (value, path) => {
  if (!Array.isArray(value) || value.length === 0 || value.length > MOST_EVENT_IDS) {
    throw invalidRequest(path, `must be a list of 1 to ${MOST_EVENT_IDS} ids`);
  }
  return value.map((id, at) => {
    const text = typeof id === 'number' ? String(id) : id;
    if (typeof text === 'string' && EVENT_ID.test(text)) return text;
    throw invalidRequest(`${path}.${at}`, 'must be the id of an event, as the list of events shows it');
  });
};

function oneOf(words: readonly string[]): Read<string> {
  return (value, path) => {
    if (typeof value === 'string' && words.includes(value)) return value;
    throw invalidRequest(path, `must be one of ${words.map((word) => `"${word}"`).join(', ')}`);
  };
}

class SentCost {
  @Required(dollars)
  readonly usd: number;
}

class SentFilter {
  @Optional(eventIdList)
  readonly event_ids?: readonly string[];

  @Optional(oneOf(PROVIDER_TYPES))
  readonly provider?: string;

  @Optional(modelText)
  readonly model?: string;

  @Optional(oneOf(USAGE_STATUSES))
  readonly status?: string;
}

/** @throws invalid_request naming the invalid member. */
export function parseSettledCost(value: unknown): SettledCost {
  if (value === 'zero' || value === 'estimate') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest('cost', 'must be "zero", "estimate" or an object such as {"usd": 0.01}');
  }
  return objectOf(SentCost)(value, 'cost');
}

/** @throws invalid_request naming the invalid member. */
export function parseSettleFilter(value: unknown): SettleFilter {
  if (value === undefined) return {};
  const { event_ids: eventIds, ...filter } = objectOf(SentFilter)(value, 'filter');
  return { ...filter, ...(eventIds === undefined ? {} : { eventIds }) };
}

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
 * Plans the settlement. Each event costs its known part plus the replacement of its estimate. It no longer has an
 * estimate and is computed, unless its provider reported the known part.
 *
 * @param events at most `most` + 1; one more than `most` means that further events match.
 * @param most maximum events to settle.
 * Source: ADR 0007.
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
