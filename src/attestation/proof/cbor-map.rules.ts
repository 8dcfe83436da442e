import { type DecodeOptions, decode } from 'cbor2';
import { proofRefused } from '../proof-refusal.js';

/** A CBOR map; its keys are texts and integers. */
type CborMap = ReadonlyMap<unknown, unknown>;

/** Arrays count twice. A real attestation uses four. */
const MAX_DEPTH = 16;

/** Tags stay what they are: nothing a client writes makes dates, patterns or big numbers of ours. */
const OPTIONS: DecodeOptions = {
  maxDepth: MAX_DEPTH,
  rejectStreaming: true,
  ignoreGlobalTags: true,
  createObject: (members) => mapOf(members),
};

/**
 * Reads bytes that are one CBOR map of definite lengths and nothing more. Lengths that the bytes do not fill cost
 * nothing: an item is made when its bytes are there.
 *
 * @throws attest_failed not CBOR, not a map, bytes after it, indefinite lengths, nested too deep, a key given twice in
 * whatever encoding, or a key that is neither text nor integer.
 * Source: docs/reference/security.md#attestation-checks, RFC 8949.
 */
export function readCborMap(bytes: Buffer): CborMap {
  let value: unknown;
  try {
    value = decode(bytes, OPTIONS);
  } catch (error) {
    throw proofRefused('cbor_invalid', error);
  }
  if (!isCborMap(value)) throw proofRefused('cbor_invalid');
  return value;
}

/** True when a value that was read is a map. */
export function isCborMap(value: unknown): value is CborMap {
  return value instanceof Map;
}

/** The bytes of a byte string; `undefined` for any other value. Shares memory with what was read. */
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
