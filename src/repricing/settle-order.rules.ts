import { invalidRequest } from '../common/errors/gateway-error.js';
import { openObject, type Read, requireStorableText } from '../common/fields/config-reader.js';
import { PROVIDER_TYPES } from '../upstreams/provider-types.js';
import { USAGE_STATUSES } from '../usage/usage-event.js';
import type { SettledCost } from './settle-estimates.rules.js';

/** Far above the cost of any call; keeps sums of many events exact. */
const MOST_USD = 10_000;
const MOST_EVENT_IDS = 1_000;
const MODEL_MAX = 200;
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

/** @throws invalid_request naming the invalid member. */
export function parseSettledCost(value: unknown): SettledCost {
  if (value === 'zero' || value === 'estimate') return value;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalidRequest('cost', 'must be "zero", "estimate" or an object such as {"usd": 0.01}');
  }
  return { usd: openObject(value, 'cost', ['usd']).required('usd', dollars) };
}

/** @throws invalid_request naming the invalid member. */
export function parseSettleFilter(value: unknown): SettleFilter {
  if (value === undefined) return {};
  const members = openObject(value, 'filter', ['provider', 'model', 'status', 'event_ids']);
  const { event_ids: eventIds } = members.optional('event_ids', eventIdList);
  return {
    ...members.optional('provider', oneOf(PROVIDER_TYPES)),
    ...members.optional('model', modelText),
    ...members.optional('status', oneOf(USAGE_STATUSES)),
    ...(eventIds === undefined ? {} : { eventIds }),
  };
}

const dollars: Read<number> = (value, path) => {
  if (typeof value === 'number' && value >= 0 && value <= MOST_USD) return value;
  throw invalidRequest(path, `must be a number from 0 to ${MOST_USD}`);
};

const modelText: Read<string> = (value, path) => {
  if (typeof value !== 'string' || value.length === 0 || value.length > MODEL_MAX) {
    throw invalidRequest(path, `must be text of 1 to ${MODEL_MAX} characters`);
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
