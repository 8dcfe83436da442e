import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections whose close is the only mark of their answer's end: those of HTTP/1.0 (RFC 9112, section 6.3). */
const DELIMITED_BY_CLOSE = new WeakSet<Socket>();

/**
 * To be called once for each request, before it is answered. An HTTP/1.0 client gets no chunked body, not even one that
 * offers to take it (RFC 9112, section 6.1): its answer ends where the connection is closed.
 */
export function noteFraming({ httpVersionMajor, httpVersionMinor, socket }: IncomingMessage, response: ServerResponse) {
  if (httpVersionMajor === 1 && httpVersionMinor > 0) return;
  response.useChunkedEncodingByDefault = false;
  DELIMITED_BY_CLOSE.add(socket);
}

/** Cuts the connection of an answer that cannot be completed, so that the client does not take it for complete. */
export function cutAnswer(response: ServerResponse): void {
  if (response.socket !== null) cutConnection(response.socket);
  response.destroy();
}

/**
 * The same for whatever is on its way: a reset where a plain close would look like the answer's end. A connection that has
 * its end already, and nothing left before it, cannot be reset any more: Node would leave it open for ever.
 */
export function cutConnection(socket: Socket): void {
  const isEnding = socket.writableEnded && socket.writableLength === 0;
  if (DELIMITED_BY_CLOSE.has(socket) && !isEnding) socket.resetAndDestroy();
  else socket.destroy();
}
