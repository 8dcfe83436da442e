import { instantOf } from '../../../common/clock.js';

/** Printable ASCII, which needs no sanitizing. */
const PLAIN = /^[ -~]*$/;
/** Printable ASCII without quotation mark and backslash, which needs no JSON escaping. */
const PLAIN_IN_JSON = /^[ !#-[\]-~]*$/;

/** A count that fits a Postgres `bigint` and a JavaScript number: whole, 0 to 2^53 - 1. */
export function wholeNumber(value: number): number {
  return value > 0 ? Math.min(Math.round(value), Number.MAX_SAFE_INTEGER) : 0;
}

/**
 * Text that Postgres can store: without NUL, well-formed Unicode, at most `maxLength` UTF-16 units.
 *
 * Source: docs/reference/security.md#log-lines.
 */
export function storableText(value: string, maxLength: number): string {
  if (value.length <= maxLength && PLAIN.test(value)) return value;
  return value.replaceAll('\u0000', '').slice(0, maxLength).toWellFormed();
}

/** A member of a JSON object with a leading comma; empty when the value is null or absent. */
export function textMember(
  name: string,
  value: string | null | undefined,
  maxLength = Number.POSITIVE_INFINITY,
): string {
  if (value === null || value === undefined) return '';
  const text = storableText(value, maxLength);
  return `,"${name}":${PLAIN_IN_JSON.test(text) ? `"${text}"` : JSON.stringify(text)}`;
}

/** A count member with a leading comma; empty when the count is zero, because an absent count means zero. */
export function countMember(name: string, value: number): string {
  const count = wholeNumber(value);
  return count === 0 ? '' : `,"${name}":${count}`;
}

/** Largest absolute time value of a `Date`, in milliseconds. */
const LATEST_INSTANT_MS = 8_640_000_000_000_000;

/** Fields of an event that log lines contain. */
export interface EventFields {
  readonly eventId: string;
  readonly appId: string;
  readonly userId: string | null;
  readonly provider: string;
  readonly providerSlug: string;
  readonly model: string;
  readonly route: string;
}

/**
 * Parses the log fields of an event's JSON text; a missing text is empty, a missing user is null.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function parseEventFields(json: string): EventFields {
  const members = membersOf(json);
  const text = (name: string) => textOrNull(members.get(name)) ?? '';
  return {
    eventId: text('event_id'),
    appId: text('app_id'),
    userId: textOrNull(members.get('user_id')),
    provider: text('provider_type'),
    providerSlug: text('provider_slug'),
    model: text('model'),
    route: text('route'),
  };
}

/**
 * The UTC day of an event's JSON text, `YYYY-MM-DD`; undefined when it has no valid `created_at_ms`.
 *
 * @throws SyntaxError when the text is not JSON.
 */
export function eventDayOf(json: string): string | undefined {
  const createdAtMs = membersOf(json).get('created_at_ms');
  if (typeof createdAtMs !== 'number' || Math.abs(createdAtMs) > LATEST_INSTANT_MS) return undefined;
  return instantOf(createdAtMs).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

function membersOf(json: string): Map<string, unknown> {
  const event: unknown = JSON.parse(json);
  return new Map<string, unknown>(typeof event === 'object' && event !== null ? Object.entries(event) : []);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
