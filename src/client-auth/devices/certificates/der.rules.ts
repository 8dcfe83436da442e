const OCTET_STRING = 0x04;
const CONSTRUCTED = 0x20;
/** Tags above 30 take several bytes and are not supported. */
const LONG_TAG = 0x1f;
const MAX_LENGTH_BYTES = 3;
const MAX_DEPTH = 8;

interface DerElement {
  readonly tag: number;
  readonly content: Buffer;
  /** The bytes after the element. */
  readonly rest: Buffer;
}

/** The elements of a sequence's content; `undefined` when the bytes are no sequence of elements. */
export function elementsOf(bytes: Buffer): DerElement[] | undefined {
  const elements: DerElement[] = [];
  for (let rest = bytes; rest.length > 0; ) {
    const element = readElement(rest);
    if (element === undefined) return undefined;
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

/** @returns false when the bytes are no sequence of DER elements. */
function collectOctetStrings(bytes: Buffer, found: Buffer[], depth: number): boolean {
  const elements = depth === 0 ? undefined : elementsOf(bytes);
  if (elements === undefined) return false;
  return elements.every(({ tag, content }) => {
    if (tag === OCTET_STRING) found.push(content);
    return (tag & CONSTRUCTED) === 0 || collectOctetStrings(content, found, depth - 1);
  });
}

/** The first element; `undefined` unless its length is definite and minimally encoded. */
function readElement(bytes: Buffer): DerElement | undefined {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined || (tag & LONG_TAG) === LONG_TAG) return undefined;
  const lengthBytes = first < 0x80 ? 0 : first - 0x80;
  const start = 2 + lengthBytes;
  if (first === 0x80 || lengthBytes > MAX_LENGTH_BYTES || bytes.length < start) return undefined;
  const length = lengthBytes === 0 ? first : bytes.readUIntBE(2, lengthBytes);
  const isShortest = lengthBytes === 0 || (length >= 0x80 && bytes[2] !== 0);
  const end = start + length;
  if (!isShortest || bytes.length < end) return undefined;
  return { tag, content: bytes.subarray(start, end), rest: bytes.subarray(end) };
}
