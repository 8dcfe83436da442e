import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Maximum bytes of an unread body to receive after a response that closes the connection … */
const MAX_BYTES = 64 * 1024 * 1024;
/** … and maximum time. */
const MAX_MS = 10_000;
/** How often both limits are checked. */
const SWEEP_MS = 50;

/** The latest request of a connection whose body was unread at the response. */
const UNREAD = new WeakMap<Socket, IncomingMessage>();

/** Call once per request, before its response. All responses share one listener. */
export function lingerWhereUnread(response: ServerResponse): void {
  // Runs before Node's own listener, which closes the connection.
  response.prependListener('finish', lingerOnClose);
}

function lingerOnClose(this: ServerResponse): void {
  if (!this.req.complete) readOnWhenClosing(this.req);
}

/**
 * Receives and discards the rest of a request whose response closes the connection, so that the response arrives:
 * closing a connection with unread bytes resets it, which may discard the response (RFC 9112 9.6). The connection
 * closes when the request is complete, or at the limits.
 */
export function readOnWhenClosing(message: IncomingMessage, { maxBytes = MAX_BYTES, maxMs = MAX_MS } = {}): void {
  const { socket } = message;
  const isKnown = UNREAD.has(socket);
  UNREAD.set(socket, message);
  if (isKnown) return;
  const closeNow = socket.destroySoon.bind(socket);
  // The server calls this after the response is written, only for a connection that it closes.
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
