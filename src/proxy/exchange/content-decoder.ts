import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** How to decode a body: not at all, with a decoder, or unsupported. */
export type ContentDecoding =
  | { readonly kind: 'identity' | 'unknown' }
  | { readonly kind: 'decoder'; readonly decoder: Transform };

/**
 * Returns the decoding of an answer. Requests ask for `identity`, but a provider may still encode the answer. It must
 * be decoded because `content-encoding` is not relayed.
 *
 * @param contentEncoding the answer's header, `undefined` when absent.
 */
export function decodingOf(contentEncoding: string | undefined): ContentDecoding {
  const coding = contentEncoding?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return { kind: 'identity' };
  const create = DECODERS.get(coding);
  return create ? { kind: 'decoder', decoder: create() } : { kind: 'unknown' };
}
