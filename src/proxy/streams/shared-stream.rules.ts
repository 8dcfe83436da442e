import type { KeyObject } from 'node:crypto';
import { IV_BYTES, openBytes, sealBytes } from '../../platform/vault/sealed-blob.rules.js';
import type { StreamFacts, StreamState } from './kept-stream.js';
import type { NamedStream } from './stream-ids.service.js';

/**
 * A kept answer as a Redis stream, for readers on other instances: first its head, then its bytes, then its end. The id
 * of an entry is the offset after its bytes, so a reader requests the bytes that it lacks, and writing an entry again
 * changes nothing. Every entry is sealed with the key of the stream.
 */
export const HEAD_ID = '0-1';
const FIELD = 's';
const CONTEXT = { purpose: 'stream entry' };
const OFFSET_BYTES = 6;
const NO_OFFSET = 2 ** (8 * OFFSET_BYTES) - 1;

/** An entry to write. */
export interface SharedEntry {
  readonly id: string;
  readonly sealed: Buffer;
}

/** The content of the first entry. */
type SharedHead = Omit<StreamFacts, 'id' | 'mark' | 'appId'>;

/** The content of the last entry. */
export interface SharedEnd {
  readonly state: Exclude<StreamState, 'live'>;
  readonly isWhole: boolean;
  readonly length: number;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAtMs: number;
}

/** The content of an entry. */
export type OpenedEntry =
  | { readonly kind: 'head'; readonly head: SharedHead }
  | { readonly kind: 'bytes'; readonly start: number; readonly bytes: Buffer }
  | { readonly kind: 'end'; readonly end: SharedEnd };

/** An entry as Redis answers it: its id, then fields and values in turn. */
export type RedisEntry = readonly [id: Buffer, fields: readonly Buffer[]];

export function headEntry(key: KeyObject, facts: SharedHead): SharedEntry {
  const { endpointSlug, status, contentType, maxBytes, resumeSeconds } = facts;
  const head: SharedHead = { endpointSlug, status, contentType, maxBytes, resumeSeconds };
  return { id: HEAD_ID, sealed: sealed(key, NO_OFFSET, 0, Buffer.from(JSON.stringify(head))) };
}

export function bytesEntry(key: KeyObject, start: number, bytes: Buffer): SharedEntry {
  const end = start + bytes.length;
  return { id: `${end}-0`, sealed: sealed(key, start, end, bytes) };
}

/** Its id is higher than that of any byte. */
export function endEntry(key: KeyObject, end: SharedEnd): SharedEntry {
  return { id: `${end.length + 1}-0`, sealed: sealed(key, end.length, NO_OFFSET, Buffer.from(JSON.stringify(end))) };
}

/** The arguments of XADD. @param makes whether the command may create the stream. */
export function addArguments(
  { mark }: Pick<NamedStream, 'mark'>,
  entry: SharedEntry,
  makes: boolean,
): [key: string, ...rest: (string | Buffer)[]] {
  return [keyOf(mark), ...(makes ? [] : ['NOMKSTREAM']), entry.id, FIELD, entry.sealed];
}

/** The key in Redis. */
export function keyOf(mark: string): string {
  return `gw:stream:${mark}`;
}

/** The lowest id that a reader with that many bytes lacks. */
export function idAfter(length: number): string {
  return `${length + 1}-0`;
}

/** @returns undefined for bytes that were not sealed with this key. */
export function openEntry(key: KeyObject, sealedBytes: Buffer): OpenedEntry | undefined {
  const bytes = openBytes(key, sealedBytes, CONTEXT);
  if (bytes === undefined) return undefined;
  const start = sealedBytes.readUIntBE(0, OFFSET_BYTES);
  if (start === NO_OFFSET) return { kind: 'head', head: JSON.parse(bytes.toString()) };
  if (sealedBytes.readUIntBE(OFFSET_BYTES, OFFSET_BYTES) === NO_OFFSET)
    return { kind: 'end', end: JSON.parse(bytes.toString()) };
  return { kind: 'bytes', start, bytes };
}

/** Each pair of offsets of a stream has only one plaintext, so it can be the nonce. */
function sealed(key: KeyObject, start: number, end: number, bytes: Buffer): Buffer {
  const iv = Buffer.alloc(IV_BYTES);
  iv.writeUIntBE(start, 0, OFFSET_BYTES);
  iv.writeUIntBE(end, OFFSET_BYTES, OFFSET_BYTES);
  return sealBytes(key, iv, bytes, CONTEXT);
}
