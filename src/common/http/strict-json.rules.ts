import { shownName } from '../errors/display-text.rules.js';
import { invalidRequest } from '../errors/gateway-error.js';
import { isStorableText, memberPath, unstorableText } from '../fields/config-values.js';

/** The name of the whole body in refusals. */
const BODY = 'body';
const MAX_DEPTH = 64;
/** Far above any legitimate body; takes a few milliseconds to scan. */
const MAX_PARTS = 20_000;
/** Likewise for one object: the time for its members grows faster than their number. */
const MAX_MEMBERS = 2_000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const NUMBER = /\d[-+.\deE]*/y;
const BEYOND_DOUBLE = 'does not fit into double precision; send fewer digits, or a text';
/** A number up to this length without an exponent always survives the round trip. */
const ALWAYS_KEPT_LENGTH = 15;

/** An enclosing object or list of the current position. */
interface Level {
  /** The unescaped member names so far; undefined in a list. */
  readonly names: Set<string> | undefined;
  /** The current member, or the index of the current entry. */
  at: string | number;
}

/**
 * Parses a JSON text and refuses what two parsers could read differently: duplicate members, a byte order mark, invalid
 * UTF-8, nesting beyond 64 levels and numbers that would be rounded; what Postgres cannot store: NUL and lone
 * surrogates; and more than 20,000 members and entries, or 2,000 members of one object, which would block other
 * requests.
 *
 * @param path the name of the whole text in refusals.
 * @param options `takesAnyNumber`: for a text whose bytes are kept, so that no number is rounded.
 * @throws invalid_request at that path, or at the member.
 * Source: docs/reference/security.md#request-heads, docs/reference/security.md#bounded-work, RFC 8259 section 4; RFC
 * 7493 sections 2.1 and 2.2.
 */
export function parseStrictJson(bytes: Buffer, path = BODY, { takesAnyNumber = false } = {}): unknown {
  const text = decodeUtf8(bytes, path);
  requireFewParts(text, path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidRequest(path, 'is not valid JSON', 'json_invalid');
  }
  walk(text, path, takesAnyNumber);
  return value;
}

function decodeUtf8(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidRequest(path, 'is not valid UTF-8', 'json_invalid');
  }
}

/**
 * Counts commas and opening brackets outside strings: about the number of parts of a JSON text, before it is parsed.
 */
function requireFewParts(text: string, path: string): void {
  let [count, isString] = [0, false];
  /** For each open object its members so far; NaN for a list. */
  const members: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isString = !isString;
    else if (isString) at += code === BACKSLASH ? 1 : 0;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) members.pop();
    else if (code === COMMA || code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (++count > MAX_PARTS) throw invalidRequest(path, `has more than ${MAX_PARTS} members and entries`);
      if (code === COMMA) members.push((members.pop() ?? Number.NaN) + 1);
      else members.push(code === OPEN_BRACE ? 1 : Number.NaN);
      if ((members.at(-1) ?? 0) > MAX_MEMBERS) {
        throw invalidRequest(path, `has an object with more than ${MAX_MEMBERS} members`);
      }
    }
  }
}

/** Scans a text that is valid JSON; names are compared after unescaping. */
function walk(text: string, path: string, takesAnyNumber: boolean): void {
  const levels: Level[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const level = levels.at(-1);
      const end = endOfString(text, at);
      const literal = text.slice(at, end);
      if (level?.names !== undefined && isMemberName(text, end)) enter(level, level.names, unescaped(literal));
      const isOdd = literal.includes('\\u') && !isStorableText(unescaped(literal));
      if (isOdd) throw unstorableText(placeIn(levels, path));
      at = end - 1;
    } else if (code === COMMA) {
      const level = levels.at(-1);
      if (typeof level?.at === 'number') level.at++;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      levels.push(code === OPEN_BRACE ? { names: new Set(), at: '' } : { names: undefined, at: 0 });
      if (levels.length > MAX_DEPTH) throw invalidRequest(path, `is nested deeper than ${MAX_DEPTH} levels`);
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) levels.pop();
    else if (isDigit(code)) {
      const literal = numberAt(text, at);
      if (!takesAnyNumber && !isKept(literal))
        throw invalidRequest(placeIn(levels, path), BEYOND_DOUBLE, 'json_number_not_kept');
      at += literal.length - 1;
    }
  }
}

/** The number whose first digit is at this position, without its sign. */
function numberAt(text: string, at: number): string {
  NUMBER.lastIndex = at;
  return NUMBER.exec(text)?.[0] ?? '';
}

function isKept(literal: string): boolean {
  return (literal.length <= ALWAYS_KEPT_LENGTH && !/e/i.test(literal)) || isKeptAsDouble(literal);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function unescaped(literal: string): string {
  return literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at + 1;
}

function isMemberName(text: string, after: number): boolean {
  let at = after;
  while (text.charCodeAt(at) === 0x20 || (text.charCodeAt(at) >= 0x09 && text.charCodeAt(at) <= 0x0d)) at++;
  return text.charCodeAt(at) === 0x3a;
}

function enter(level: Level, names: Set<string>, name: string): void {
  if (names.has(name)) throw invalidRequest(shownName(name), 'is given twice', 'json_member_twice');
  names.add(name);
  level.at = name;
}

/** The dotted path of the current position. */
function placeIn(levels: readonly Level[], root: string): string {
  const path = levels.reduce((outer, { at }) => memberPath(outer, String(at)), root);
  return root === BODY && levels.length > 0 ? path.slice(`${BODY}.`.length) : path;
}

/** Digits that identify a double uniquely. Source: IEEE 754-2019, 5.12.2. */
const DOUBLE_DIGITS = 17;
const LITERAL = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i;
const ZERO = 0x30;

/** Significant digits without leading and trailing zeros, times a power of ten. */
interface Decimal {
  /** Empty for zero. */
  readonly digits: string;
  readonly exponent: number;
}

/**
 * True when a JSON number survives a round trip through a double: as the same number or, for a fraction within double
 * precision, as the shorter spelling of the same double.
 *
 * @param literal valid by RFC 8259 section 6.
 * Source: RFC 7493 section 2.2.
 */
export function isKeptAsDouble(literal: string): boolean {
  const value = Number(literal);
  const sent = decimalOf(literal);
  const kept = decimalOf(String(value));
  if (sent === undefined || kept === undefined) return false;
  if (sent.digits === kept.digits && (sent.exponent === kept.exponent || sent.digits === '')) return true;
  return value !== 0 && sent.exponent < 0 && sent.digits.length <= DOUBLE_DIGITS;
}

/** @returns undefined for text that is not a number, such as infinity. */
function decimalOf(text: string): Decimal | undefined {
  const match = LITERAL.exec(text);
  if (match === null) return undefined;
  const [, whole = '', fraction = '', exponent = '0'] = match;
  const all = whole + fraction;
  let [start, end] = [0, all.length];
  while (start < end && all.charCodeAt(start) === ZERO) start++;
  while (end > start && all.charCodeAt(end - 1) === ZERO) end--;
  return { digits: all.slice(start, end), exponent: Number(exponent) - fraction.length + (all.length - end) };
}
