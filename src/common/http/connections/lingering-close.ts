import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** What is read of a body that nobody has read when its answer closes the connection … */
const MAX_BYTES = 64 * 1024 * 1024;
/** … and for how long. */
const MAX_MS = 10_000;
/** How often the two are looked at. */
const SWEEP_MS = 50;

/** The latest request of a connection of which a body was not read when it was answered. */
const UNREAD = new WeakMap<Socket, IncomingMessage>();

/** To be called once for each request, before it is answered. All answers share one listener. */
export function lingerWhereUnread(response: ServerResponse): void {
  // Before Node's own, which closes the connection.
  response.prependListener('finish', lingerOnClose);
}

function lingerOnClose(this: ServerResponse): void {
  if (!this.req.complete) readOnWhenClosing(this.req);
}

/**
 * Reads on what a client still sends of a request whose answer closes the connection, so that the answer arrives: a
 * connection that is closed with unread bytes is reset, and takes what it was answered with it (RFC 9112 9.6). The rest
 * is thrown away. The connection is closed when the client has sent its request, at the latest after the bounds.
 */
export function readOnWhenClosing(message: IncomingMessage, { maxBytes = MAX_BYTES, maxMs = MAX_MS } = {}): void {
  const { socket } = message;
  const isKnown = UNREAD.has(socket);
  UNREAD.set(socket, message);
  if (isKnown) return;
  const closeNow = socket.destroySoon.bind(socket);
  // The server calls this once the answer is written, and not at all where the connection stays.
  socket.destroySoon = () => {
    const unread = UNREAD.get(socket);
    if (unread === undefined || unread.complete) {
      closeNow();
      return;
    }
    const [firstByte, sweeps] = [socket.bytesRead, Math.ceil(maxMs / SWEEP_MS)];
    let sweep = 0;
    const timer = setInterval(() => {
      if (++sweep >= sweeps || socket.bytesRead - firstByte > maxBytes) socket.destroy();
    }, SWEEP_MS).unref();
    socket.once('close', () => clearInterval(timer)).end();
    unread.once('end', closeNow);
  };
}
