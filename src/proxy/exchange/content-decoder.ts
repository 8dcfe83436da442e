import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
  ['zstd', createZstdDecompress],
]);

/** How a body must be undone: not at all, by a decoder, or not by us. */
export type ContentDecoding =
  | { readonly kind: 'identity' | 'unknown' }
  | { readonly kind: 'decoder'; readonly decoder: Transform };

/**
 * We ask for identity, so a coded answer is a provider's mistake; it is decoded because the header that names the
 * coding is not relayed.
 *
 * @param contentEncoding the answer's header, `undefined` when absent.
 */
export function decodingOf(contentEncoding: string | undefined): ContentDecoding {
  const coding = contentEncoding?.trim().toLowerCase() ?? '';
  if (coding === '' || coding === 'identity') return { kind: 'identity' };
  const create = DECODERS.get(coding);
  return create ? { kind: 'decoder', decoder: create() } : { kind: 'unknown' };
}
