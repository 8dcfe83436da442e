import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type Loopback, listening } from '../loopback.js';

/**
 * A proxy that passes requests on and cuts the connection instead of some answers.
 *
 * @param isLost whether the answer to a request is lost. The request itself arrives.
 * @param before runs before a request is passed on.
 * @param redirectOf where a path is redirected to; undefined: it is passed on.
 */
export async function losing(
  target: string,
  isLost: (method: string, path: string) => boolean,
  before: (method: string, path: string) => Promise<void> = async () => undefined,
  redirectOf: (path: string) => string | undefined = () => undefined,
): Promise<Loopback> {
  const server = createServer(async (incoming: IncomingMessage, answer: ServerResponse) => {
    const { method = 'GET', url = '/', headers } = incoming;
    await before(method, url);
    const location = redirectOf(url);
    if (location !== undefined) {
      answer.writeHead(302, { location }).end();
      return;
    }
    const sent = request(new URL(url, target), { method, headers }, (received) => {
      if (isLost(method, url)) {
        received.resume().once('end', () => answer.destroy());
        return;
      }
      answer.writeHead(received.statusCode ?? 502, received.headers);
      received.pipe(answer);
    });
    sent.once('error', () => answer.destroy());
    incoming.pipe(sent);
  });
  return listening(server);
}
