import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call of a client as it came to the edge. */
interface EdgeCall {
  readonly method: string | undefined;
  /** As the client wrote it, the prefix included. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An answer given in place of the service's. */
interface CannedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A proxy in front of the service, as an operator has one: it owns a path prefix and says who calls. */
export interface Edge {
  /** The base URL clients are given. */
  readonly url: string;
  readonly calls: EdgeCall[];
  /** The last segments of the calls' paths so far, in their order, and forgets them. */
  takeRoutes(): string[];
  /** Answers the next calls in place of the service. */
  answer(...answers: readonly CannedAnswer[]): void;
  close(): Promise<void>;
}

export const EDGE_PREFIX = '/gateway/eu';

/** Starts an edge before the service at `target`; its clients share one address that nobody else has. */
export async function startEdge(target: string): Promise<Edge> {
  const calls: EdgeCall[] = [];
  const canned: CannedAnswer[] = [];
  const address = [...randomBytes(3)].reduce((text, byte) => `${text}.${byte}`, '12');
  const server = createServer(async (message, response) => {
    const body = await textOf(message);
    calls.push({ method: message.method, path: message.url ?? '', headers: message.headers, body });
    const answer = canned.shift();
    if (answer !== undefined) send(response, answer);
    else forward(target, message, body, { response, address });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${EDGE_PREFIX}/`,
    calls,
    takeRoutes: () => calls.splice(0).map(({ path }) => path.slice(path.lastIndexOf('/') + 1)),
    answer: (...answers) => void canned.push(...answers),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

async function textOf(message: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function send(response: ServerResponse, { status, body, headers = {} }: CannedAnswer): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

/** Passes a call on without its prefix, and the answer back piece by piece. */
function forward(
  target: string,
  { method, url = '', headers }: IncomingMessage,
  body: string,
  { response, address }: { response: ServerResponse; address: string },
): void {
  const outgoing = { ...headers, host: new URL(target).host, 'x-forwarded-for': address };
  const call = request(`${target}${url.slice(EDGE_PREFIX.length)}`, { method, headers: outgoing });
  call.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(response);
  });
  call.on('error', () => response.destroy());
  call.end(body);
}
