import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from '../../loopback.js';

/** An answer that replaces the service's. */
interface CannedAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export const OPERATOR_PROXY_PREFIX = '/gateway/eu';

interface EdgeCall {
  readonly method: string | undefined;
  /** As sent by the client, including the prefix. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * Starts a proxy in front of the service at `target`, like an operator's: it has a path prefix and forwards the
 * client's address. Its clients share one address that nobody else has.
 */
export async function startOperatorProxy(target: string) {
  const calls: EdgeCall[] = [];
  const canned: CannedAnswer[] = [];
  const address = [...randomBytes(3)].reduce((start, byte) => `${start}.${byte}`, '12');
  const server = createServer(async (message, response) => {
    const body = await text(message);
    calls.push({ method: message.method, path: message.url ?? '', headers: message.headers, body });
    const answer = canned.shift();
    if (answer !== undefined) send(response, answer);
    else forward(target, message, body, { response, address });
  });
  const { url, close } = await listening(server);
  return {
    /** The base URL for clients. */
    url: `${url}${OPERATOR_PROXY_PREFIX}/`,
    calls,
    /** Returns and clears the last segments of the calls' paths so far, in order. */
    takeRoutes: () => calls.splice(0).map(({ path }) => path.slice(path.lastIndexOf('/') + 1)),
    /** Answers the next calls in place of the service. */
    answer: (...answers: readonly CannedAnswer[]) => void canned.push(...answers),
    close,
  };
}

function send(response: ServerResponse, { status, body, headers = {} }: CannedAnswer): void {
  const content = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(content);
}

/** Forwards a call without its prefix, and streams the answer back. */
function forward(
  target: string,
  { method, url = '', headers }: IncomingMessage,
  body: string,
  { response, address }: { response: ServerResponse; address: string },
): void {
  const outgoing = { ...headers, host: new URL(target).host, 'x-forwarded-for': address };
  const call = request(`${target}${url.slice(OPERATOR_PROXY_PREFIX.length)}`, { method, headers: outgoing });
  call.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 0, answer.headers);
    answer.pipe(response);
  });
  call.on('error', () => response.destroy());
  call.end(body);
}
