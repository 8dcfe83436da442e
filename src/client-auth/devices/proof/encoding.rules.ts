import { type DecodeOptions, decode } from 'cbor2';
import { proofRefused } from '../proof-refusal.js';

const ALPHABETS = [/^[A-Za-z0-9+/]+={0,2}$/, /^[A-Za-z0-9_-]+={0,2}$/];

/**
 * Decodes standard base64 or base64url, padded or not.
 *
 * @param maxBytes maximum decoded length; a longer text is refused before decoding.
 * @returns at least one byte.
 * @throws attest_failed empty, too long, both alphabets at once, or not base64.
 * Source: docs/reference/security.md#attestation-checks.
 */
export function decodeBase64(text: string, maxBytes: number): Buffer {
  if (Buffer.byteLength(text, 'base64') > maxBytes) throw proofRefused('proof_too_large');
  if (!ALPHABETS.some((alphabet) => alphabet.test(text)) || !isWhole(text)) throw proofRefused('proof_not_base64');
  return Buffer.from(text, 'base64');
}

/** A last group of one character carries no byte. Padding must fill the last group or be absent. */
function isWhole(text: string): boolean {
  return text.endsWith('=') ? text.length % 4 === 0 : text.length % 4 !== 1;
}

/** A CBOR map with text and integer keys. */
type CborMap = ReadonlyMap<unknown, unknown>;

/** Arrays count twice. A real attestation uses four. */
const MAX_DEPTH = 16;

/** Tags are not interpreted: client input never creates dates, patterns or big numbers. */
export const CBOR_OPTIONS: DecodeOptions = {
  maxDepth: MAX_DEPTH,
  rejectStreaming: true,
  ignoreGlobalTags: true,
  createObject: (members) => mapOf(members),
};

/**
 * Reads exactly one CBOR map of definite lengths. A declared length allocates nothing: items are created as their bytes
 * are read.
 *
 * @throws attest_failed not CBOR, not a map, trailing bytes, indefinite lengths, nested too deep, a duplicate key in
 * any encoding, or a key that is neither text nor integer.
 * Source: docs/reference/security.md#attestation-checks, RFC 8949.
 */
export function readCborMap(bytes: Buffer): CborMap {
  let value: unknown;
  try {
    value = decode(bytes, CBOR_OPTIONS);
  } catch (error) {
    throw proofRefused('cbor_invalid', error);
  }
  if (!isCborMap(value)) throw proofRefused('cbor_invalid');
  return value;
}

/** Whether a decoded value is a map. */
export function isCborMap(value: unknown): value is CborMap {
  return value instanceof Map;
}

/** The bytes of a byte string; `undefined` for any other value. Shares memory with the input. */
export function bytesOf(value: unknown): Buffer | undefined {
  return value instanceof Uint8Array ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : undefined;
}

function mapOf(members: readonly (readonly [unknown, unknown, ...unknown[]])[]): CborMap {
  const map = new Map<unknown, unknown>();
  for (const [key, value] of members) {
    if (typeof key !== 'string' && !Number.isInteger(key) && typeof key !== 'bigint') throw new TypeError('key type');
    if (map.has(key)) throw new TypeError('key given twice');
    map.set(key, value);
  }
  return map;
}
