const QUOTE = 0x22;
const COLON = 0x3a;
const OPENING_BRACE = 0x7b;
const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;

const USAGE = Buffer.from('"usage');
const METADATA = Buffer.from('Metadata');
const DURATION = Buffer.from('"duration"');
const DATA_FIELD = Buffer.from('data:');

/**
 * Offset of the next `"usage": {` or `"usageMetadata": {`, or -1. A `"usage":null`, which some providers repeat in
 * every event, is skipped after a few bytes. Works on bytes without decoding. Member names inside JSON strings never
 * match, because their quotes are escaped.
 */
export function indexOfUsage(bytes: Buffer, from = 0): number {
  for (let at = bytes.indexOf(USAGE, from); at !== -1; at = bytes.indexOf(USAGE, at + USAGE.length)) {
    let end = at + USAGE.length;
    if (bytes[end] === METADATA[0]) end += METADATA.length;
    if (bytes[end] === QUOTE && valueByte(bytes, end + 1) === OPENING_BRACE) return at;
  }
  return -1;
}

/** Offset of the next `"duration": <number>`, or -1. */
export function indexOfDuration(bytes: Buffer, from = 0): number {
  for (let at = bytes.indexOf(DURATION, from); at !== -1; at = bytes.indexOf(DURATION, at + DURATION.length)) {
    const first = valueByte(bytes, at + DURATION.length);
    if (first === MINUS || (first !== undefined && first >= ZERO && first <= NINE)) return at;
  }
  return -1;
}

/** The first byte of the value after a member name that ends at `from`; undefined when there is no colon. */
function valueByte(bytes: Buffer, from: number): number | undefined {
  const colon = skipSpace(bytes, from);
  return bytes[colon] === COLON ? bytes[skipSpace(bytes, colon + 1)] : undefined;
}

/** Skips white space and the start of a further `data:` line, at which an event may break its JSON. */
function skipSpace(bytes: Buffer, from: number): number {
  for (let at = from; ; at += DATA_FIELD.length) {
    while (isSpace(bytes[at])) at += 1;
    if (!startsDataLine(bytes, at)) return at;
  }
}

function startsDataLine(bytes: Buffer, at: number): boolean {
  return bytes[at] === DATA_FIELD[0] && bytes.subarray(at, at + DATA_FIELD.length).equals(DATA_FIELD);
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}
