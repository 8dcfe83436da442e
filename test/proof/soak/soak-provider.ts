import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { event } from '../../support/proxy/upstream-scripts.js';

const MARKER = /soak-[a-z0-9]+-[0-9]+/;
const USAGE = { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13 };
const RESPONSES_USAGE = { input_tokens: 10, output_tokens: 3, total_tokens: 13 };

type Ending = 'whole' | 'slow' | 'error' | 'reset' | 'cut';

/** The random outcomes of calls, as upper ends of shares of one. */
const CHANCES: readonly [number, Ending][] = [
  [0.9, 'whole'],
  [0.92, 'slow'],
  [0.95, 'error'],
  [0.97, 'reset'],
  [1, 'cut'],
];
const FLAKY_SHARE = 0.3;
const SLOW_MS = 1_500;

/** A provider for hours of traffic: it records only the marker of each call. */
export interface SoakProvider {
  readonly url: string;
  /** Markers of all calls whose body arrived. */
  readonly seen: ReadonlySet<string>;
  close(): Promise<void>;
}

/**
 * Starts it on a free port of 127.0.0.1. Below `/flaky/` a part of all calls is answered 503 at once.
 *
 * @param random determines the outcome of calls.
 */
export async function startSoakProvider(random: () => number): Promise<SoakProvider> {
  const seen = new Set<string>();
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString('latin1');
    const marker = MARKER.exec(body)?.[0];
    // A copy: a part of a text keeps the whole of it, here a megabyte, in memory.
    if (marker !== undefined) seen.add(Buffer.from(marker).toString());
    if (request.url?.startsWith('/flaky/') && random() < FLAKY_SHARE) return void fail(response, 503);
    const chance = random();
    const ending = CHANCES.find(([upTo]) => chance < upTo)?.[1] ?? 'whole';
    if (ending === 'reset') return void request.socket.resetAndDestroy();
    if (ending === 'error') return void fail(response, 500);
    if (ending === 'slow') await sleep(SLOW_MS);
    const path = request.url ?? '';
    if (body.includes('"stream":true')) await stream(response, path.endsWith('responses'), ending === 'cut');
    else answer(response, path, ending === 'cut');
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function fail(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"soak"}}');
}

function answer(response: ServerResponse, path: string, isCut: boolean): void {
  const body = JSON.stringify(bodyOf(path));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
  if (!isCut) return void response.end(body);
  response.write(body.slice(0, 10), () => response.destroy());
}

function bodyOf(path: string): object {
  if (path.endsWith('responses')) return { id: 'resp_soak', object: 'response', output: [], usage: RESPONSES_USAGE };
  if (path.endsWith('transcriptions')) return { text: 'soak', usage: { type: 'tokens', ...RESPONSES_USAGE } };
  if (path.endsWith('embeddings')) return { data: [], usage: { prompt_tokens: 10, total_tokens: 10 } };
  return {
    id: 'chatcmpl-soak',
    choices: [{ index: 0, message: { role: 'assistant', content: 'soak' } }],
    usage: USAGE,
  };
}

async function stream(response: ServerResponse, isResponses: boolean, isCut: boolean): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let piece = 0; piece < 10; piece++) {
    const delta = isResponses
      ? { type: 'response.output_text.delta', delta: 'soak' }
      : { choices: [{ index: 0, delta: { content: 'soak' } }] };
    response.write(event(delta));
    await sleep(10);
    if (isCut && piece === 4) return void response.destroy();
  }
  const last = isResponses
    ? { type: 'response.completed', response: { id: 'resp_soak', usage: RESPONSES_USAGE } }
    : { choices: [], usage: USAGE };
  response.end(event(last) + (isResponses ? '' : event('[DONE]')));
}
