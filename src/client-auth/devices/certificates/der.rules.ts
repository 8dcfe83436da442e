const OCTET_STRING = 0x04;
const CONSTRUCTED = 0x20;
/** Tag numbers above 30 use further bytes. */
const LONG_TAG = 0x1f;
const MAX_TAG_BYTES = 3;
const MAX_LENGTH_BYTES = 3;
const MAX_DEPTH = 8;
/** In one sequence. Genuine ones have a third; each costs time before anything is verified. */
const MAX_ELEMENTS = 64;

export interface DerElement {
  /** The first byte: class, form and, up to 30, the number. */
  readonly tag: number;
  readonly number: number;
  readonly content: Buffer;
  /** The bytes after the element. */
  readonly rest: Buffer;
}

/** The elements of a sequence's content; `undefined` unless they are at most 64 and have tags up to 30. */
export function elementsOf(bytes: Buffer): DerElement[] | undefined {
  const elements = taggedElementsOf(bytes);
  return elements?.some(({ number }) => number >= LONG_TAG) ? undefined : elements;
}

/** As {@link elementsOf}, with tags of any number up to 2^21 - 1. */
export function taggedElementsOf(bytes: Buffer): DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const element = readElement(rest);
    if (element === undefined || elements.length === MAX_ELEMENTS) return undefined;
    elements.push(element);
    rest = element.rest;
  }
  return elements;
}

/**
 * The single octet string within a value of nested constructed elements.
 *
 * @returns `undefined` when the value is not DER, or has no octet string or several.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function findSingleOctetString(bytes: Buffer): Buffer | undefined {
  const found: Buffer[] = [];
  return collectOctetStrings(bytes, found, MAX_DEPTH) && found.length === 1 ? found[0] : undefined;
}

/** @returns false when the bytes are not a sequence of DER elements. */
function collectOctetStrings(bytes: Buffer, found: Buffer[], depth: number): boolean {
  const elements = depth === 0 ? undefined : elementsOf(bytes);
  if (elements === undefined) return false;
  return elements.every(({ tag, content }) => {
    if (tag === OCTET_STRING) found.push(content);
    return (tag & CONSTRUCTED) === 0 || collectOctetStrings(content, found, depth - 1);
  });
}

/** The first element; `undefined` unless its tag and length are definite and minimally encoded. */
function readElement(bytes: Buffer): DerElement | undefined {
  const tag = readTag(bytes);
  if (tag === undefined) return undefined;
  const first = bytes[tag.end];
  if (first === undefined) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = tag.end + 1 + lengthBytes;
  if (first === 0x80 || lengthBytes > MAX_LENGTH_BYTES || bytes.length < start) return undefined;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(tag.end + 1, lengthBytes);
  const isShortest = lengthBytes === 0 || (length >= 0x80 && bytes[tag.end + 1] !== 0);
  const end = start + length;
  if (!isShortest || bytes.length < end) return undefined;
  return { tag: tag.first, number: tag.number, content: bytes.subarray(start, end), rest: bytes.subarray(end) };
}

/** The tag at the start of the bytes. `end`: its length in bytes. */
function readTag(bytes: Buffer): { first: number; number: number; end: number } | undefined {
  const [first] = bytes;
  if (first === undefined) return undefined;
  if ((first & LONG_TAG) !== LONG_TAG) return { first, number: first & LONG_TAG, end: 1 };
  let number = 0;
  for (let end = 1; end <= MAX_TAG_BYTES; end++) {
    const byte = bytes[end];
    if (byte === undefined || (end === 1 && byte === 0x80)) return undefined;
    number = number * 0x80 + (byte & 0x7f);
    if (byte < 0x80) return number < LONG_TAG ? undefined : { first, number, end: end + 1 };
  }
  return undefined;
}
