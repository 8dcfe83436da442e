import { invalidRequest } from '../common/errors/gateway-error.js';
import { Optional, objectOf, Required } from '../common/fields/config-fields.js';
import { type Read, requireStorableText } from '../common/fields/config-values.js';
import { MAX_MODEL_LENGTH, PROVIDER_TYPES } from '../upstreams/provider-types.js';
import { USAGE_STATUSES } from '../usage/usage-event.js';
import type { SettledCost } from './settle-estimates.rules.js';

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
