import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy that passes requests on and cuts the connection instead of some answers. */
export interface LossyProxy {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @param isLost whether the answer to a request is lost. The request itself arrives.
 * @param before runs before a request is passed on.
 */
export async function losing(
  target: string,
  isLost: (method: string, path: string) => boolean,
  before: (method: string, path: string) => Promise<void> = async () => undefined,
): Promise<LossyProxy> {
  const server = createServer(async (incoming: IncomingMessage, answer: ServerResponse) => {
    const { method = 'GET', url = '/', headers } = incoming;
    await before(method, url);
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
