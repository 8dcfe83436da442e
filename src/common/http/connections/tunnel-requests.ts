import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Lets requests for a tunnel (CONNECT) be refused as any other method is. Node takes them out of its own hands, and closes
 * the connection without an answer where nobody listens for them.
 */
export function answerTunnels(serve: RequestListener): (message: IncomingMessage, socket: Socket) => void {
  return (message, socket) => {
    socket.on('error', () => socket.destroy());
    const response = new ServerResponse(message);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.destroySoon());
    serve(message, response);
  };
}
