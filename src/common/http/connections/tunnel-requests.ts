import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Routes CONNECT requests to the normal refusal of a method. Without a listener Node closes their connection without a
 * response.
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
