import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { event } from '../../support/proxy/upstream-scripts.js';
import { INPUT_NANO_USD, type PaidCall, type PaidCalls, type Treatment } from './paid-calls.js';

/** A kept connection that closes sooner has not seen its request: it is sent once more (ADR 0050). */
const AFTER_RACE_MS = 150;

const MARKER = /call-[\w-]+/;
/** The random outcomes of calls, as upper ends of shares of one. */
const CHANCES: readonly [number, Treatment][] = [
  [0.8, 'whole'],
  [0.87, 'no_usage'],
  [0.93, 'error'],
  [0.96, 'reset'],
  [1, 'cut_short'],
];
const MOST_PAUSE_MS = 30;
const HEAD = { id: 'chatcmpl-paid', created: 1_790_000_000, model: 'proof-model' };

/** A provider that knows the cost of every call, exact to the nano-dollar. */
export interface PaidProvider {
  readonly url: string;
  /** From now on no answer starts until the promise resolves. */
  holdBack(until: Promise<unknown>): void;
  close(): Promise<void>;
}

/** Starts it on a free port of 127.0.0.1. @param random determines the outcome of calls. */
export async function startPaidProvider(calls: PaidCalls, random: () => number): Promise<PaidProvider> {
  const sockets = new Set<Socket>();
  let held: Promise<unknown> = Promise.resolve();
  const server = createServer((request, response) => {
    serve(request, response).catch(() => request.socket.destroy());
  });
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = (await buffer(request)).toString();
    const call = calls.all.get(MARKER.exec(body)?.[0] ?? '');
    if (call === undefined) return void calls.violations.push(`the provider was sent a call nobody made: ${body}`);
    calls.arrived(call);
    const answer = answerOf(call, random);
    await held;
    await sleep(random() * MOST_PAUSE_MS);
    try {
      await send(call, answer, response);
    } finally {
      calls.answered(call, heardCharge(call, answer));
    }
  }

  async function send(call: PaidCall, { treatment, usage }: PaidAnswer, response: ServerResponse): Promise<void> {
    if (treatment === 'reset') {
      await sleep(AFTER_RACE_MS);
      return void response.socket?.resetAndDestroy();
    }
    if (treatment === 'error') return void json(response, 500, { error: { message: 'no' } });
    const told = treatment === 'whole' ? { usage } : {};
    if (!call.isStream && treatment !== 'cut_short') {
      return void json(response, 200, { ...HEAD, object: 'chat.completion', choices: [], ...told });
    }
    const chunk = (members: object) => event({ ...HEAD, object: 'chat.completion.chunk', choices: [], ...members });
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(chunk({ choices: [{ index: 0, delta: { content: 'Hel' } }] }));
    await sleep(random() * MOST_PAUSE_MS);
    if (treatment === 'cut_short') return void response.destroy();
    response.end(chunk(told) + event('[DONE]'));
  }

  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    holdBack: (until) => {
      held = until;
    },
    close: async () => {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

interface PaidAnswer {
  readonly treatment: Treatment;
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
  readonly cost: number;
}

/** The charge of a call whose answer arrived: an estimate if the answer reported no usage. */
function heardCharge(
  { sent, mostTokens, outputNanoUsd }: PaidCall,
  { treatment, cost }: PaidAnswer,
): number | undefined {
  switch (treatment) {
    case 'whole':
      return cost;
    case 'error':
      return 0;
    case 'reset':
      return sent;
    case 'cut_short':
      return sent + mostTokens * outputNanoUsd;
    case 'no_usage':
      return undefined;
  }
}

function answerOf({ treatment, bodyBytes, mostTokens, outputNanoUsd }: PaidCall, random: () => number): PaidAnswer {
  const chance = random();
  const input = treatment === undefined ? Math.floor(random() * (bodyBytes + 1)) : 1;
  const output = treatment === undefined ? Math.floor(random() * (mostTokens + 1)) : mostTokens;
  return {
    treatment: treatment ?? CHANCES.find(([end]) => chance < end)?.[1] ?? 'whole',
    usage: { prompt_tokens: input, completion_tokens: output },
    cost: input * INPUT_NANO_USD + output * outputNanoUsd,
  };
}

function json(response: ServerResponse, status: number, content: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
}
