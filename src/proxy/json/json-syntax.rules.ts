/** Maximum length of a number; a longer one has no meaningful value for a provider. */
const MAX_NUMBER_BYTES = 1024;

/** Returned by the readers below for text that is not JSON. */
export const NOT_JSON = -1;

const BACKSLASH_U = 0x75;

function tableOf(accepts: (byte: number) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => (accepts(byte) ? 1 : 0));
}

const SHORT_ESCAPES = new Set('"\\/bfnrt');

/** 1 for each byte that is unescaped content of a string. */
const PLAIN_BYTE = tableOf((byte) => byte >= 0x20 && byte !== 0x22 && byte !== 0x5c);
const SHORT_ESCAPE = tableOf((byte) => SHORT_ESCAPES.has(String.fromCharCode(byte)));
const HEX_DIGIT = tableOf((byte) => /[0-9a-f]/i.test(String.fromCharCode(byte)));
const DIGIT = tableOf((byte) => byte >= 0x30 && byte <= 0x39);

const TRUE = Buffer.from('true');
const FALSE = Buffer.from('false');
const NULL = Buffer.from('null');

/** Bytes of a string that are read one by one; most strings are not longer. */
const SHORT_TEXT_BYTES = 64;
const WORD_BYTES = Int32Array.BYTES_PER_ELEMENT;
/** One byte repeated in each byte of a word. */
const inEachByte = (byte: number) => Math.imul(byte, 0x01010101);
const ONES = inEachByte(0x01);
const TOP_BITS = inEachByte(0x80);
const SPACES = inEachByte(0x20);
const QUOTES = inEachByte(0x22);
const BACKSLASHES = inEachByte(0x5c);

/** Offset of the first byte from `start` on that is not unescaped string content, or `limit`. */
export function plainTextEnd(bytes: Buffer, start: number, limit: number): number {
  const shortEnd = Math.min(limit, start + SHORT_TEXT_BYTES);
  const at = plainBytesEnd(bytes, start, shortEnd);
  if (at < shortEnd || at === limit) return at;
  return plainBytesEnd(bytes, plainWordsEnd(bytes, at, limit), limit);
}

function plainBytesEnd(bytes: Buffer, start: number, limit: number): number {
  let at = start;
  while (at < limit && PLAIN_BYTE[bytes[at] as number] === 1) at++;
  return at;
}

/**
 * Skips aligned words of four plain bytes; a quarter of the time that the bytes take one by one. A byte below a bound
 * of at most 0x80 sets the top bit of `(word - bound) & ~word`; a byte that equals another is 0, so below 1, after an
 * exclusive or.
 *
 * @returns an offset from which bytes have to be read one by one; all before it are plain.
 */
function plainWordsEnd(bytes: Buffer, start: number, limit: number): number {
  const aligned = start + ((WORD_BYTES - ((bytes.byteOffset + start) % WORD_BYTES)) % WORD_BYTES);
  const count = Math.floor((limit - aligned) / WORD_BYTES);
  if (count <= 0 || plainBytesEnd(bytes, start, aligned) < aligned) return start;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + aligned, count);
  let at = 0;
  for (; at < count; at++) {
    const word = words[at] as number;
    const quotes = word ^ QUOTES;
    const backslashes = word ^ BACKSLASHES;
    const special = ((word - SPACES) & ~word) | ((quotes - ONES) & ~quotes) | ((backslashes - ONES) & ~backslashes);
    if ((special & TOP_BITS) !== 0) break;
  }
  return aligned + at * WORD_BYTES;
}

/** Offset after the escape that starts at `start` (a backslash), or `NOT_JSON`. Source: RFC 8259 section 7. */
export function escapeEnd(bytes: Buffer, start: number): number {
  if (start + 1 >= bytes.length) return NOT_JSON;
  const letter = bytes[start + 1] as number;
  if (SHORT_ESCAPE[letter] === 1) return start + 2;
  if (letter !== BACKSLASH_U || start + 6 > bytes.length) return NOT_JSON;
  for (let at = start + 2; at < start + 6; at++) {
    if (HEX_DIGIT[bytes[at] as number] === 0) return NOT_JSON;
  }
  return start + 6;
}

function digitsEnd(bytes: Buffer, start: number, limit: number): number {
  let at = start;
  while (at < limit && DIGIT[bytes[at] as number] === 1) at++;
  return at;
}

/**
 * Offset after the number that starts at `start`, or `NOT_JSON`, also for more than `MAX_NUMBER_BYTES`.
 * Source: RFC 8259 section 6.
 */
function numberEnd(bytes: Buffer, start: number): number {
  const limit = Math.min(bytes.length, start + MAX_NUMBER_BYTES + 1);
  const whole = bytes[start] === 0x2d ? start + 1 : start;
  let end = bytes[whole] === 0x30 ? whole + 1 : digitsEnd(bytes, whole, limit);
  if (end === whole) return NOT_JSON;
  if (bytes[end] === 0x2e) {
    const fraction = end + 1;
    end = digitsEnd(bytes, fraction, limit);
    if (end === fraction) return NOT_JSON;
  }
  if (bytes[end] === 0x65 || bytes[end] === 0x45) {
    const sign = bytes[end + 1];
    const exponent = sign === 0x2b || sign === 0x2d ? end + 2 : end + 1;
    end = digitsEnd(bytes, exponent, limit);
    if (end <= exponent) return NOT_JSON;
  }
  return end - start > MAX_NUMBER_BYTES ? NOT_JSON : end;
}

function wordEnd(bytes: Buffer, start: number, word: Buffer): number {
  for (let at = 0; at < word.length; at++) {
    if (bytes[start + at] !== word[at]) return NOT_JSON;
  }
  return start + word.length;
}

/** Offset after the number or word (`true`, `false`, `null`) that starts at `start`, or `NOT_JSON`. */
export function scalarEnd(bytes: Buffer, start: number): number {
  switch (bytes[start]) {
    case 0x74:
      return wordEnd(bytes, start, TRUE);
    case 0x66:
      return wordEnd(bytes, start, FALSE);
    case 0x6e:
      return wordEnd(bytes, start, NULL);
    default:
      return numberEnd(bytes, start);
  }
}

const SNIPPET_BYTES = 12;
const SNIPPET_CHARACTERS = 40;

/** A few bytes of the text for an error message: printable ASCII in quotes, the rest escaped, at most 40 characters. */
export function snippet(bytes: Buffer, start: number): string {
  const text = bytes.toString('latin1', start, start + SNIPPET_BYTES);
  const safe = text.replace(/[^ !#-[\]-~]/g, (unit) => `\\x${unit.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return `"${safe.slice(0, SNIPPET_CHARACTERS - 2)}"`;
}
