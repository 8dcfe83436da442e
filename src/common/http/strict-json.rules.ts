import { invalidRequest } from '../errors/gateway-error.js';

const MAX_DEPTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * Parses a JSON text and refuses what two readers could understand differently: a member named twice, a byte order
 * mark, invalid UTF-8, NUL characters and nesting beyond 64 levels.
 *
 * @param path how refusals name the text as a whole.
 * @throws invalid_request at that path, or naming the repeated member.
 * Source: threats 2.1, 2.6; RFC 8259 section 4.
 */
export function parseStrictJson(bytes: Buffer, path = 'body'): unknown {
  const text = decodeUtf8(bytes, path);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidRequest(path, 'is not valid JSON', 'json_invalid');
  }
  refuseRepeatedMembers(text, path);
  return value;
}

function decodeUtf8(bytes: Buffer, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidRequest(path, 'is not valid UTF-8', 'json_invalid');
  }
}

/** Walks a text that is known to be valid JSON; keys are compared after unescaping. */
function refuseRepeatedMembers(text: string, path: string): void {
  const objects: (Set<string> | undefined)[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      const literal = text.slice(at, end);
      if (literal.includes('\\u0000')) refuseNul(literal, path);
      if (isMemberName(text, end)) remember(objects.at(-1), literal);
      at = end - 1;
    } else if (code === 0x7b || code === 0x5b) {
      objects.push(code === 0x7b ? new Set() : undefined);
      if (objects.length > MAX_DEPTH) throw invalidRequest(path, `is nested deeper than ${MAX_DEPTH} levels`);
    } else if (code === 0x7d || code === 0x5d) objects.pop();
  }
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

function remember(names: Set<string> | undefined, literal: string): void {
  const name: unknown = literal.includes('\\') ? JSON.parse(literal) : literal.slice(1, -1);
  if (names === undefined || typeof name !== 'string') return;
  if (names.has(name)) throw invalidRequest(name.slice(0, 100), 'is given twice', 'json_member_twice');
  names.add(name);
}

function refuseNul(literal: string, path: string): void {
  if (String(JSON.parse(literal)).includes('\u0000')) throw invalidRequest(path, 'holds a NUL character');
}
