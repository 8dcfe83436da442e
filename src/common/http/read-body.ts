import type { IncomingMessage } from 'node:http';
import { GatewayError } from '../errors/gateway-error.js';

/** A body of which no more can come gets its whole room at once. */
const SMALL_BODY_BYTES = 64 * 1024;

/**
 * Reads a request body to its end, within a bound. A declared length above the bound is refused before a byte is read.
 *
 * A body that comes in one chunk is that chunk. Any other is put together in one buffer as it comes, and what it came
 * in is given back at once, so that it never stands in memory as chunks and as a whole.
 *
 * @param maxBytes inclusive.
 * @throws payload_too_large declared or actual size above the bound.
 * @throws invalid_request the client broke off before the body was complete.
 */
export function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer> {
  if (message.destroyed) return Promise.reject(brokenOff());
  const declared = message.headers['content-length'];
  const mostBytes = declared === undefined ? maxBytes : Number(declared);
  if (mostBytes > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    let size = 0;
    let held: Buffer | undefined;
    const take = (chunk: Buffer) => {
      const before = size;
      size += chunk.length;
      if (size > mostBytes) {
        message.off('data', take);
        held = undefined;
        reject(tooLarge(maxBytes));
      } else if (held === undefined) held = chunk;
      else {
        if (size > held.length) held = grown(held, before, roomFor(size, mostBytes));
        chunk.copy(held, before);
        giveBack(chunk);
      }
    };
    const breakOff = () => reject(brokenOff());
    message.on('data', take).once('error', breakOff).once('close', breakOff);
    message.once('end', () => {
      // The message lives as long as its answer, and the body as long as a listener that knows its promise.
      message.off('data', take).off('error', breakOff).off('close', breakOff);
      resolve(whole(held, size));
    });
  });
}

/**
 * Room for the bytes that have come, less than twice of them: what a client only announces costs nothing. The steps are
 * halves of the most that may come, so that the last one fits an announced body exactly.
 */
function roomFor(receivedBytes: number, mostBytes: number): number {
  if (mostBytes <= SMALL_BODY_BYTES) return mostBytes;
  let room = mostBytes;
  while (room / 2 >= receivedBytes) room /= 2;
  return Math.ceil(room);
}

function whole(held: Buffer | undefined, size: number): Buffer {
  if (held === undefined) return Buffer.alloc(0);
  return held.length === size ? held : held.subarray(0, size);
}

function grown(held: Buffer, size: number, room: number): Buffer {
  const larger = Buffer.allocUnsafe(room);
  held.copy(larger, 0, 0, size);
  giveBack(held);
  return larger;
}

/**
 * Frees the memory of a buffer nobody will look at again, which is then empty. Garbage is collected late: by then a
 * large body would have left itself behind two times over. Buffers that share their memory are left alone.
 */
function giveBack({ buffer, byteLength }: Buffer): void {
  if (byteLength === buffer.byteLength && 'transfer' in buffer) buffer.transfer(0);
}

/** The refusal, which the client can read although it still sends. */
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
