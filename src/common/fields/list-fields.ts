import { Int, Text } from './fields.js';

/** How long a page is when the caller does not say. */
export const DEFAULT_PAGE_LIMIT = 50;
/** How long a page may be. */
export const MAX_PAGE_LIMIT = 200;

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The `limit` of a list, 1 to 200.
 *
 * @param what the list holds, in the plural.
 * Source: docs/reference/management-api.md#query-parameters-and-lists.
 */
export function PageLimit(what: string): PropertyDecorator {
  return Int({
    min: 1,
    max: MAX_PAGE_LIMIT,
    optional: true,
    description: `Most ${what} to return; ${DEFAULT_PAGE_LIMIT} when absent.`,
  });
}

/**
 * The `before_id` of a list that is newest first: the cursor that `nextBeforeId` gave.
 *
 * Source: docs/reference/management-api.md#query-parameters-and-lists.
 */
export function BeforeId(): PropertyDecorator {
  return Int({ min: 1, optional: true, description: 'Only events with a smaller id.' });
}

/** A UTC month as `YYYY-MM`. Source: docs/reference/management-api.md#query-parameters-and-lists. */
export function Month({
  form = 'a month such as 2026-01',
  description = 'UTC month of the usage; the current one when absent.',
  optional = true,
} = {}): PropertyDecorator {
  return Text({ max: 7, pattern: MONTH, patternText: form, optional, description });
}

/**
 * A UTC day as `YYYY-MM-DD`; whether the calendar has it is judged by who uses it.
 *
 * Source: docs/reference/management-api.md#requests-and-bodies,
 * docs/reference/management-api.md#query-parameters-and-lists.
 */
export function Day(description: string): PropertyDecorator {
  return Text({ max: 10, pattern: DAY, patternText: 'a day such as 2026-01-31', optional: true, description });
}
