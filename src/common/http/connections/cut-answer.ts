import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Connections whose close delimits the response: those of HTTP/1.0 (RFC 9112, section 6.3). */
const DELIMITED_BY_CLOSE = new WeakSet<Socket>();

/**
 * Call once per request, before its response. An HTTP/1.0 client gets no chunked body, even if it accepts one: closing
 * the connection ends its response (RFC 9112, section 6.1).
 */
export function noteFraming({ httpVersionMajor, httpVersionMinor, socket }: IncomingMessage, response: ServerResponse) {
  if (httpVersionMajor === 1 && httpVersionMinor > 0) return;
  response.useChunkedEncodingByDefault = false;
  DELIMITED_BY_CLOSE.add(socket);
}

/** Cuts the connection of a response that cannot be completed, so that the client does not take it for complete. */
export function cutAnswer(response: ServerResponse): void {
  if (response.socket !== null) cutConnection(response.socket);
  response.destroy();
}

/**
 * Destroys a connection, with a reset where a plain close would look like the end of the response. A connection that
 * has sent its end and everything before it cannot be reset: Node would leave it open forever.
 */
export function cutConnection(socket: Socket): void {
  const isEnding = socket.writableEnded && socket.writableLength === 0;
  if (DELIMITED_BY_CLOSE.has(socket) && !isEnding) socket.resetAndDestroy();
  else socket.destroy();
}
