import type { IncomingMessage } from 'node:http';
import type { RefusalCode } from '../errors/error-catalogue.js';
import { GatewayError } from '../errors/gateway-error.js';

/** Up to this maximum size the whole buffer is allocated at once. */
const SMALL_BODY_BYTES = 64 * 1024;

/**
 * Reads a request body up to a limit. A declared length above the limit is refused before reading.
 *
 * A body in one chunk is returned as that chunk. Several chunks are copied into one buffer as they arrive and each
 * chunk's memory is released at once, so that the body is never held twice.
 *
 * @param maxBytes inclusive.
 * @param tooLargeCode the code of a refusal with 413.
 * @throws payload_too_large, or the given code: declared or actual size above the limit.
 * @throws invalid_request the client disconnected before the body was complete.
 */
export function readBody(
  message: IncomingMessage,
  maxBytes: number,
  tooLargeCode: RefusalCode = 'payload_too_large',
): Promise<Buffer> {
  if (message.destroyed) return Promise.reject(brokenOff());
  const declared = message.headers['content-length'];
  const mostBytes = declared === undefined ? maxBytes : Number(declared);
  if (mostBytes > maxBytes) return Promise.reject(tooLarge(maxBytes, tooLargeCode));
  if (message.complete && message.readableLength <= mostBytes) return Promise.resolve(arrivedBody(message));
  return new Promise((resolve, reject) => {
    let size = 0;
    let held: Buffer | undefined;
    const take = (chunk: Buffer) => {
      const before = size;
      size += chunk.length;
      if (size > mostBytes) {
        message.off('data', take);
        held = undefined;
        reject(tooLarge(maxBytes, tooLargeCode));
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
      // The message lives until its response ends, and a listener that references the promise would keep the body
      // alive.
      message.off('data', take).off('error', breakOff).off('close', breakOff);
      resolve(whole(held, size));
    });
  });
}

/** A body that has arrived before anything listens to it. */
function arrivedBody(message: IncomingMessage): Buffer {
  const bytes: Buffer | null = message.read();
  return bytes ?? Buffer.alloc(0);
}

/**
 * Buffer capacity for the received bytes, less than twice their size: an announced size alone allocates nothing. The
 * steps are halves of the maximum, so that the last one fits an announced body exactly.
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
 * Releases the memory of a buffer that is no longer used, leaving it empty. Garbage collection runs late: a large body
 * would occupy its size twice more until then. Buffers that share memory are left alone.
 */
function giveBack({ buffer, byteLength }: Buffer): void {
  if (byteLength === buffer.byteLength && 'transfer' in buffer) buffer.transfer(0);
}

/** The refusal; the client can read it while it still sends. */
function tooLarge(maxBytes: number, code: RefusalCode): GatewayError {
  return new GatewayError(code, {
    status: 413,
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
