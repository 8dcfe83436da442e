import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { ApiClient } from '../../support/api-client.js';
import { eventually } from '../../support/eventually.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const PATH = 'v1/chat/completions';
const NONCE = /nonce-\d+/;

/** Writes one answer to a request. @param nonce of the request; an answer that belongs to it carries it. */
type Answering = (socket: Socket, nonce: string) => unknown;

let world: World;
let provider: Server;
let origin: string;
let answering: Answering;
const sockets = new Set<Socket>();
let one: ProxyClient;
let other: ProxyClient;
let nonces = 0;

/** A provider with byte-level control: one answer for each complete request. */
function startProvider(): Server {
  return createServer((socket) => {
    sockets.add(socket);
    // A second small write would otherwise wait for the acknowledgement of the first.
    socket.setNoDelay();
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => {
      text += bytes.toString('latin1');
      const headEnd = text.indexOf('\r\n\r\n');
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (headEnd < 0 || text.length < headEnd + 4 + length) return;
      const nonce = NONCE.exec(text)?.[0] ?? '';
      text = '';
      answering(socket, nonce);
    });
  });
}

const completion = (nonce: string) => JSON.stringify({ id: nonce, usage: { prompt_tokens: 1, completion_tokens: 1 } });

const plain = (body: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

const own: Answering = (socket, nonce) => socket.write(plain(completion(nonce)));

/** An application of another account, with its own instance at the same origin. */
async function foreignClient(): Promise<ProxyClient> {
  const { key } = await newAccount(world.dataSource);
  const api = new ApiClient(world.baseUrl, world.check, key);
  const foreign: Partial<World> = {
    ...world,
    api,
    provider: async (members = {}) =>
      (await api.post('/v1/admin/providers', { type: 'openai', name: 'Other', secret: 'sk-other-secret', ...members }))
        .body.provider,
    app: async (config = {}) => {
      const { body } = await api.post('/v1/admin/apps', { name: 'Other', config });
      return { id: body.app.id, key: body.api_key.key };
    },
  };
  return ProxyClient.create(foreign as World, { provider: { baseUrl: origin } });
}

beforeAll(async () => {
  world = await startWorld();
  provider = startProvider().listen(0, '127.0.0.1');
  await once(provider, 'listening');
  origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/`;
  one = await ProxyClient.create(world, { provider: { baseUrl: origin } });
  other = await foreignClient();
});

beforeEach(() => {
  answering = own;
});

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
});

afterAll(async () => {
  await world.stop();
  provider.close();
});

/** A call whose answer must be its own. @returns the nonce in the answer, and the nonce of the call. */
async function ownAnswer(client: ProxyClient): Promise<void> {
  const nonce = `nonce-${++nonces}`;
  const answer = await client.call(PATH, { body: { model: 'gpt-4.1', messages: [{ role: 'user', content: nonce }] } });
  expect([answer.status, answer.isComplete, answer.body.toString()]).toEqual([200, true, completion(nonce)]);
}

/** A call whose answer is scripted by the test. */
function scripted(client: ProxyClient) {
  return client.call(PATH, { body: { model: 'gpt-4.1', messages: [{ role: 'user', content: `nonce-${++nonces}` }] } });
}

/** Requests that the provider was sent, by the number of the socket they came on. */
function counting(answer: (socket: Socket, nonce: string, earlier: number) => unknown) {
  const seen = new Map<Socket, number>();
  const requests: number[] = [];
  answering = (socket, nonce) => {
    const earlier = seen.get(socket) ?? 0;
    seen.set(socket, earlier + 1);
    requests.push([...seen.keys()].indexOf(socket));
    return answer(socket, nonce, earlier);
  };
  return requests;
}

const CODINGS: readonly [string, (text: string) => Buffer][] = [
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
];

const FRAMINGS: readonly [string, (parts: readonly Buffer[]) => { head: string; pieces: Buffer[] }][] = [
  ['a length', (parts) => ({ head: `content-length: ${Buffer.concat(parts).length}`, pieces: [...parts] })],
  [
    'chunks',
    (parts) => ({
      head: 'transfer-encoding: chunked',
      pieces: [
        ...parts.map((part) =>
          Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
        ),
        Buffer.from('0\r\n\r\n'),
      ],
    }),
  ],
];

const ALL = CODINGS.flatMap(([coding, code]) => FRAMINGS.map(([name, frame]) => [coding, name, code, frame] as const));

/** Answers with these parts of an encoded body, each in a separate write. */
function coded(coding: string, frame: (typeof FRAMINGS)[number][1], parts: readonly Buffer[], type: string): Answering {
  return async (socket) => {
    const { head, pieces } = frame(parts);
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ncontent-encoding: ${coding}\r\n${head}\r\n\r\n`);
    for (const piece of pieces) {
      await sleep(2);
      socket.write(piece);
    }
  };
}

describe('encoded answer that ends before its message', () => {
  const foreign = Buffer.from(plain(completion('foreign')));

  it.each(ALL)(
    '%s with %s → a broken answer; the next calls, of any account, get their own answers',
    async (coding, _name, code, frame) => {
      for (const type of ['application/json', 'text/event-stream']) {
        const start = code(type === 'text/event-stream' ? 'data: {"choices":[]}\n\n' : completion('first'));
        answering = coded(coding, frame, [start, foreign, foreign], type);
        const broken = await scripted(one).catch(() => undefined);
        expect([broken?.isComplete ?? false, broken?.body.includes('foreign') ?? false]).toEqual([false, false]);
        answering = own;
        await Promise.all([ownAnswer(other), ownAnswer(one)]);
        await ownAnswer(other);
      }
    },
  );
});

describe('encoded answer', () => {
  it.each(ALL)(
    '%s with %s, in chunks → the decoded body, and the connection is reused',
    async (coding, _name, code, frame) => {
      const body = completion('x'.repeat(3_000));
      const whole = code(body);
      const cut = whole.length >> 1;
      answering = coded(
        coding,
        frame,
        [whole.subarray(0, 1), whole.subarray(1, cut), whole.subarray(cut)],
        'application/json',
      );
      const answer = await scripted(one);
      expect([answer.status, answer.isComplete, answer.body.toString()]).toEqual([200, true, body]);
      expect(answer.headers).not.toHaveProperty('content-encoding');
      answering = own;
      await ownAnswer(one);
      expect(sockets.size).toBe(1);
    },
  );

  it.each(ALL)('%s with %s, without a byte of body → an empty answer', async (coding, _name, _code, frame) => {
    answering = coded(coding, frame, [], 'application/json');
    const answer = await scripted(one);
    expect([answer.status, answer.isComplete, answer.body.length]).toEqual([200, true, 0]);
  });

  it.each(CODINGS)('%s that is truncated within a complete message → a broken answer', async (coding, code) => {
    const whole = code(completion('cut'));
    answering = coded(coding, FRAMINGS[0]?.[1] ?? fail, [whole.subarray(0, -2)], 'application/json');
    const answer = await scripted(one).catch(() => undefined);
    expect(answer?.isComplete ?? false).toBe(false);
  });
});

function fail(): never {
  throw new Error('a framing was expected');
}

describe('second answer after a complete one', () => {
  /** Resolves when the second answer is written. */
  let written: Promise<void>;

  const late =
    (ms: number): Answering =>
    (socket, nonce) => {
      socket.write(plain(completion(nonce)));
      const second = () => void socket.write(plain(completion('foreign')));
      written = ms === 0 ? Promise.resolve(second()) : sleep(ms).then(second);
    };

  it.each([0, 1, 2, 3])('%i ms later → another account never gets it', async (ms) => {
    for (let attempt = 0; attempt < 20; attempt++) {
      answering = late(ms);
      await ownAnswer(one);
      answering = own;
      await ownAnswer(other);
      // What arrives after the next request of the same instance is read as its answer: HTTP/1.1 cannot tell.
      await written;
      await eventually(() => [...sockets].some((socket) => socket.destroyed), { withinMs: 10_000 });
      sockets.clear();
    }
  });

  it('read before the next call of its own instance → not used for that call either', async () => {
    for (let attempt = 0; attempt < 10; attempt++) {
      answering = late(0);
      await ownAnswer(one);
      answering = own;
      await eventually(() => [...sockets].every((socket) => socket.destroyed), { withinMs: 10_000 });
      await ownAnswer(one);
    }
  });
});

describe('a kept connection that the provider closes as the request is sent', () => {
  it.each<[string, (socket: Socket) => unknown]>([
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])(
    '%s → the request is sent once more, on a new connection; both attempts are recorded, one is charged',
    async (_name, close) => {
      const client = await ProxyClient.create(world, { provider: { baseUrl: origin } });
      await ownAnswer(client);
      const requests = counting((socket, nonce) => (requests.length === 1 ? close(socket) : own(socket, nonce)));
      await ownAnswer(client);
      expect(requests).toEqual([0, 1]);
      const [repeated, first] = await client.events(2);
      expect(repeated?.attempts).toMatchObject([
        { status: null, error: 'provider_closed' },
        { status: 200, error: null },
      ]);
      expect([repeated?.cost_source, repeated?.cost_usd]).toEqual(['computed', first?.cost_usd]);
    },
  );

  it('the new one is closed too → 502, without a third attempt', async () => {
    const client = await ProxyClient.create(world, { provider: { baseUrl: origin } });
    await ownAnswer(client);
    const requests = counting((socket) => socket.end());
    expect((await scripted(client)).status).toBe(502);
    expect(requests).toHaveLength(2);
  });

  it.each<[string, (socket: Socket) => unknown]>([
    ['after a byte of an answer', (socket) => socket.end('H')],
    ['after an interim answer', (socket) => socket.end('HTTP/1.1 103 Early Hints\r\n\r\n')],
    ['150 ms after the request', (socket) => setTimeout(() => socket.end(), 150)],
  ])('%s → 502, nothing is repeated', async (_name, close) => {
    const client = await ProxyClient.create(world, { provider: { baseUrl: origin } });
    await ownAnswer(client);
    const requests = counting(close);
    expect((await scripted(client)).status).toBe(502);
    expect(requests).toHaveLength(1);
  });

  it('a new connection that is closed → 502, nothing is repeated', async () => {
    const client = await ProxyClient.create(world, { provider: { baseUrl: origin } });
    const requests = counting((socket) => socket.end());
    expect((await scripted(client)).status).toBe(502);
    expect(requests).toHaveLength(1);
  });
});
