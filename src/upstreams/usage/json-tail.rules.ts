import { isJsonObject, type JsonObject, parseJson } from './json-fields.rules.js';

/** Bounds on the work for hostile text: a few milliseconds. A usage object is far smaller. */
const MAX_OBJECT_CHARS = 16 * 1024;
const MAX_TRIES = 64;

const OBJECT_VALUE = /\s{0,16}:\s{0,16}(?=\{)/y;
/** The character after the number proves that it is complete. */
const NUMBER_VALUE = /\s{0,16}:\s{0,16}(\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?)(?=[\s,}\]])/y;

/**
 * Finds the last `"name": {…}` in a piece of JSON whose beginning or end may be missing. A truncated object is skipped
 * in favour of the one before it.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function lastObject(text: string, name: string): JsonObject | undefined {
  return lastValue(text, name, (after) => {
    OBJECT_VALUE.lastIndex = after;
    if (!OBJECT_VALUE.test(text)) return undefined;
    const start = OBJECT_VALUE.lastIndex;
    const end = endOfObject(text, start);
    const value = end === -1 ? undefined : parseJson(text.slice(start, end));
    return isJsonObject(value) ? value : undefined;
  });
}

/**
 * Finds the last `"name": <number of at least zero>` in such a piece.
 * Source: docs/reference/accounting.md#tokens-of-an-answer.
 */
export function lastNumber(text: string, name: string): number | undefined {
  return lastValue(text, name, (after) => {
    NUMBER_VALUE.lastIndex = after;
    const digits = NUMBER_VALUE.exec(text)?.[1];
    return digits === undefined ? undefined : Number(digits);
  });
}

function lastValue<T>(text: string, name: string, valueAfter: (index: number) => T | undefined): T | undefined {
  const key = `"${name}"`;
  let before = text.length;
  for (let tries = 0; tries < MAX_TRIES && before >= 0; tries += 1) {
    const at = text.lastIndexOf(key, before);
    if (at === -1) return undefined;
    const value = valueAfter(at + key.length);
    if (value !== undefined) return value;
    before = at - 1;
  }
  return undefined;
}

/** The index after the brace that closes the one at `start`; -1 when it is missing or beyond the bound. */
function endOfObject(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_OBJECT_CHARS);
  let depth = 0;
  let inString = false;
  for (let at = start; at < limit; at += 1) {
    const sign = text[at];
    if (inString) {
      if (sign === '\\') at += 1;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = true;
    else if (sign === '{') depth += 1;
    else if (sign === '}') {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
