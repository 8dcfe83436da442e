import type { Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
  type Zlib,
} from 'node:zlib';
import { GatewayError, invalidRequest } from '../common/errors/gateway-error.js';
import { MAX_BODY_BYTES } from './admitted-request.js';

export type Decoder = Transform & Zlib;

/** Creates the decoder of a body that starts with this byte. */
export type DecoderFor = (firstByte: number) => Decoder;

/** By coding, in lower case. Source: RFC 9110 section 8.4.1, RFC 7932, RFC 8878. */
export const DECODERS: ReadonlyMap<string, DecoderFor> = new Map<string, DecoderFor>([
  ['gzip', () => createGunzip()],
  ['x-gzip', () => createGunzip()],
  ['deflate', (firstByte) => (isZlibHeader(firstByte) ? createInflate() : createInflateRaw())],
  ['br', () => createBrotliDecompress()],
  ['zstd', () => createZstdDecompress()],
]);

/** Codings of request bodies. */
export const BODY_CODINGS: ReadonlySet<string> = new Set(['gzip', 'deflate', 'br', 'zstd']);

/** How many times its size a body may grow. Text of calls grows 3 to 20 times. */
const MAX_GROWTH = 100;

/** Some servers send `deflate` without the zlib wrapper that RFC 9110 section 8.4.1.2 asks for; browsers read both. */
function isZlibHeader(firstByte: number): boolean {
  return (firstByte & 0x0f) === 8;
}

/**
 * Decodes a request body.
 *
 * @param contentEncoding the request's header; a body of another coding than {@link BODY_CODINGS} is returned as it is.
 * @throws payload_too_large the decoded body is larger than `MAX_BODY_BYTES`, or than 100 times the sent one.
 * @throws invalid_request what was sent is not wholly of that coding.
 */
export async function decodedBody(sent: Buffer, contentEncoding: string): Promise<Buffer> {
  const coding = contentEncoding.toLowerCase();
  const decoderFor = BODY_CODINGS.has(coding) ? DECODERS.get(coding) : undefined;
  if (decoderFor === undefined || sent.length === 0) return sent;
  const decoder = decoderFor(sent[0] ?? 0);
  const maxBytes = Math.min(MAX_BODY_BYTES, MAX_GROWTH * sent.length);
  const chunks: Buffer[] = [];
  let size = 0;
  decoder.end(sent);
  try {
    for await (const chunk of decoder) {
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof GatewayError ? error : undecodable(coding);
  }
  if (decoder.bytesWritten !== sent.length) throw undecodable(coding);
  return Buffer.concat(chunks);
}

function tooLarge(maxBytes: number): GatewayError {
  const bound = maxBytes === MAX_BODY_BYTES ? `${maxBytes} bytes` : `${MAX_GROWTH} times what was sent`;
  return new GatewayError('payload_too_large', { message: `The decoded request body is larger than ${bound}.` });
}

function undecodable(coding: string): GatewayError {
  return invalidRequest('body', `is not wholly ${coding}, which content-encoding names`, 'body_undecodable');
}
