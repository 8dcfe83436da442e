import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '../eventually.js';
import { OpenApiCheck } from '../openapi/openapi-check.js';

/** A request as received by a customer's endpoint. */
export interface ReceivedEvent {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { readonly type: string; readonly timestamp: string; readonly data: Record<string, unknown> };
}

/** The status, or the address to redirect to; `undefined`: no answer, the connection is closed. */
type ReceiverAnswer = number | { readonly location: string } | undefined;

/** A customer's endpoint; every event is checked against the OpenAPI document. */
export interface WebhookReceiver {
  readonly url: string;
  readonly received: readonly ReceivedEvent[];
  /** Its answer from now on; 200 until then. */
  answer(next: (event: ReceivedEvent) => ReceiverAnswer | Promise<ReceiverAnswer>): void;
  /** The events with this path once there are `count`. */
  until(path: string, count: number): Promise<readonly ReceivedEvent[]>;
  /** @throws Error about the first event that the OpenAPI document does not describe. */
  stop(): Promise<void>;
}

/** @param host a loopback address. */
export async function startReceiver(host = '127.0.0.1'): Promise<WebhookReceiver> {
  const received: ReceivedEvent[] = [];
  const undescribed: unknown[] = [];
  const check = OpenApiCheck.ofService();
  let answer: (event: ReceivedEvent) => ReceiverAnswer | Promise<ReceiverAnswer> = () => 200;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString('utf8');
    const event = { path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) };
    received.push(event);
    try {
      check.event(event.body);
    } catch (error) {
      undescribed.push(error);
    }
    const given = await answer(event);
    if (given === undefined) request.socket.destroy();
    else if (typeof given === 'number') response.writeHead(given).end('thanks');
    else response.writeHead(302, { location: given.location }).end();
  });
  server.listen(0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const of = (path: string) => received.filter((event) => event.path === path);
  return {
    url: `http://${host}:${port}`,
    received,
    answer(next) {
      answer = next;
    },
    async until(path, count) {
      await eventually(() => of(path).length >= count, { withinMs: 60_000 });
      return of(path);
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
      if (undescribed.length > 0) throw undescribed[0];
    },
  };
}
