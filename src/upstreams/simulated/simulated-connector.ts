import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { duplexPair } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { buildConnector } from 'undici';
import type { Clock } from '../../common/clock.js';
import { simulatedAnswer } from './simulated-answers.rules.js';
import { SIMULATED_HOST } from './simulated-type.js';

/** Delay between two pieces of a stream, so that streaming is visible. */
const PIECE_MS = 12;

/**
 * A connector that answers calls of the simulated provider in this process: its connections are pairs of streams in
 * memory, and its server listens on no port. Every other destination goes to `next`.
 */
export function simulatedConnector(next: buildConnector.connector, clock: Clock): buildConnector.connector {
  const server = createServer((request, response) => void answer(request, response, clock));
  return (options, callback) => {
    if (options.hostname !== SIMULATED_HOST) return next(options, callback);
    const [client, own] = duplexPair();
    server.emit('connection', own);
    // A pair of streams is not a socket, and the connection needs none: it reads, writes and destroys.
    queueMicrotask(() => callback(null, client as unknown as Parameters<typeof callback>[1] & NonNullable<unknown>));
  };
}

async function answer(request: IncomingMessage, response: ServerResponse, clock: Clock): Promise<void> {
  const body = await text(request).catch(() => undefined);
  if (body === undefined) return;
  const [path = ''] = (request.url ?? '').split('?');
  const { status, contentType, pieces } = simulatedAnswer(path, body, Math.floor(clock.nowMs() / 1_000));
  response.writeHead(status, { 'content-type': contentType });
  for (const piece of pieces) {
    if (response.destroyed) return;
    response.write(piece);
    if (pieces.length > 1) await sleep(PIECE_MS);
  }
  response.end();
}
