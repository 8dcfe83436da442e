import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors/gateway-error.js';

/**
 * Reads a request body to its end, within a bound. A declared length above the bound is refused before a byte is read.
 *
 * @param maxBytes inclusive.
 * @throws payload_too_large declared or actual size above the bound.
 * @throws invalid_request the client broke off before the body was complete.
 */
export function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (message.destroyed) return Promise.reject(brokenOff());
  const declared = message.headers['content-length'];
  if (declared !== undefined && Number(declared) > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    let size = 0;
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    message.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxBytes) {
        message.removeAllListeners('data').resume();
        reject(tooLarge(maxBytes));
      } else if (first === undefined) first = chunk;
      else if (rest === undefined) rest = [first, chunk];
      else rest.push(chunk);
    });
    message.once('end', () => resolve(rest ? Buffer.concat(rest, size) : (first ?? Buffer.alloc(0))));
    message.once('error', () => reject(brokenOff()));
    message.once('close', () => {
      if (!message.readableEnded) reject(brokenOff());
    });
  });
}

function tooLarge(maxBytes: number): GatewayError {
  return new GatewayError('payload_too_large', {
    message: `The request body is larger than ${maxBytes} bytes.`,
    headers: { connection: 'close' },
  });
}

function brokenOff(): GatewayError {
  return new GatewayError('invalid_request', {
    message: 'body: the connection ended before the body was complete.',
    reason: 'body_truncated',
  });
}
