import type { KeyObject } from 'node:crypto';
import type { KeptStream } from './kept-stream.js';
import { bytesEntry, endEntry, headEntry, type SharedEntry } from './shared-stream.rules.js';

/**
 * What an instance answers to another one that asks for a kept answer: random bytes, from which the key of this reply
 * is derived, then entries as in Redis, each after its length. Bytes of an answer never change, so a recorded reply
 * that is sent again can add nothing wrong.
 */
export const ONCE_BYTES = 16;
const LENGTH_BYTES = 4;
/** Of an answer in one reply; the last piece may exceed it. */
const ENOUGH_BYTES = 256 * 1024;
export const MAX_REPLY_BYTES = 2 * ENOUGH_BYTES;
const HEADER = /^Instance (\d{13})\.([0-9a-f]{32})$/;

/** What an instance proves itself with. */
interface InstanceCredential {
  readonly sentAtMs: string;
  readonly signature: string;
}

/** The value of `Authorization`. */
export function credentialHeader({ sentAtMs, signature }: InstanceCredential): string {
  return `Instance ${sentAtMs}.${signature}`;
}

/** @returns undefined for anything that {@link credentialHeader} does not make. */
export function credentialOf(authorization: string | undefined): InstanceCredential | undefined {
  const [, sentAtMs, signature] = HEADER.exec(authorization ?? '') ?? [];
  return sentAtMs === undefined || signature === undefined ? undefined : { sentAtMs, signature };
}

/** What there is from a byte on, its head only with the first byte. */
export function entriesFrom(key: KeyObject, stream: KeptStream, from: number): readonly SharedEntry[] {
  const { facts, state, isWhole, length, expiresAtMs } = stream;
  const entries = from === 0 ? [headEntry(key, facts)] : [];
  let at = from;
  for (const piece of stream.piecesFrom(from)) {
    if (at - from >= ENOUGH_BYTES) break;
    entries.push(bytesEntry(key, at, piece));
    at += piece.length;
  }
  if (state !== 'live' && at === length) entries.push(endEntry(key, { state, isWhole, length, expiresAtMs }));
  return entries;
}

/** @param once random bytes, from which the key of the entries is derived. */
export function packed(once: Buffer, entries: readonly SharedEntry[]): Buffer {
  const parts = entries.flatMap(({ sealed }) => {
    const length = Buffer.alloc(LENGTH_BYTES);
    length.writeUInt32BE(sealed.length);
    return [length, sealed];
  });
  return Buffer.concat([once, ...parts]);
}

/** @returns undefined for bytes that {@link packed} does not make. */
export function unpacked(reply: Buffer): { readonly once: Buffer; readonly sealed: readonly Buffer[] } | undefined {
  if (reply.length < ONCE_BYTES) return undefined;
  const sealed: Buffer[] = [];
  let at = ONCE_BYTES;
  while (at < reply.length) {
    if (reply.length - at < LENGTH_BYTES) return undefined;
    const start = at + LENGTH_BYTES;
    at = start + reply.readUInt32BE(at);
    if (at > reply.length) return undefined;
    sealed.push(reply.subarray(start, at));
  }
  return { once: reply.subarray(0, ONCE_BYTES), sealed };
}

/** Whether the reply had room for more. @param from where it begins, up to the byte before `end`. */
export function isAllFrom(from: number, end: number): boolean {
  return end - from < ENOUGH_BYTES;
}
