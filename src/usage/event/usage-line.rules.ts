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
