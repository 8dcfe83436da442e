import { Int, Text } from './fields.js';

export const DEFAULT_PAGE_LIMIT = 50;
export const MAX_PAGE_LIMIT = 200;

const MONTH = /^\d{4}-(?:0[1-9]|1[0-2])$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The `limit` of a list, 1 to 200.
 *
 * @param what what the list contains, in the plural.
 * Source: docs/reference/management-api.md#query-parameters-and-lists.
 */
export function PageLimit(what: string): PropertyDecorator {
  return Int({
    min: 1,
    max: MAX_PAGE_LIMIT,
    optional: true,
    description: `Maximum number of ${what} to return; ${DEFAULT_PAGE_LIMIT} when absent.`,
  });
}

/**
 * The `before_id` of a list in descending order: the cursor from `nextBeforeId`.
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
 * A UTC day as `YYYY-MM-DD`; the caller checks that it is a calendar day.
 *
 * Source: docs/reference/management-api.md#requests-and-bodies,
 * docs/reference/management-api.md#query-parameters-and-lists.
 */
export function Day(description: string): PropertyDecorator {
  return Text({ max: 10, pattern: DAY, patternText: 'a day such as 2026-01-31', optional: true, description });
}

/**
 * The cursor of the next page of a list in descending order.
 *
 * @param rows the page; row ids as Postgres writes them.
 * @param limit the page size.
 * @returns null when the page was not full: there are no older rows.
 * Source: docs/reference/management-api.md#query-parameters-and-lists, docs/reference/management-api.md#usage-reports.
 */
export function nextBeforeId(rows: readonly { readonly id: string }[], limit: number): number | null {
  const last = rows.at(-1);
  return last !== undefined && rows.length === limit ? Number(last.id) : null;
}
