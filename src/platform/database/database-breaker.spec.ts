import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { DatabaseBreaker } from './database-breaker.js';

const SILENCE_MS = 60;

let server: Server;
let port: number;
let probed: number;
let answers: boolean;
let changes: boolean[];
let breaker: DatabaseBreaker;

beforeEach(async () => {
  server = createServer((socket) => void socket.on('error', () => undefined)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
  [probed, answers, changes] = [0, false, []];
  breaker = aBreaker(() => probed++);
});

function aBreaker(onProbe: () => void): DatabaseBreaker {
  return new DatabaseBreaker({
    silenceMs: SILENCE_MS,
    probe: async () => {
      onProbe();
      if (!answers) throw new Error('no answer');
    },
    onChange: (isOpen) => changes.push(isOpen),
  });
}

afterEach(() => {
  breaker.end();
  server.close();
});

/** A connection through the breaker and the promise of its end. */
function connected(through = breaker): { ended: Promise<unknown> } {
  const socket = through.socket();
  const ended = once(socket, 'error').then(([error]: unknown[]) => error);
  socket.connect(port, '127.0.0.1');
  return { ended };
}

describe('database breaker', () => {
  it('one connection is silent → all are closed, with the code of a timeout', async () => {
    const [first, second] = [connected(), connected()];
    expect(await first.ended).toMatchObject({ code: 'ETIMEDOUT', message: `Postgres was silent for ${SILENCE_MS} ms` });
    expect(await second.ended).toMatchObject({ code: 'ETIMEDOUT' });
    expect([breaker.isOpen, changes]).toEqual([true, [true]]);
  });

  it('open → a new connection is refused without a wait', async () => {
    await connected().ended;
    const socket = breaker.socket();
    const ended = once(socket, 'error');
    await new Promise((resolve) => setImmediate(resolve));
    expect(socket.destroyed).toBe(true);
    expect(await ended).toMatchObject([{ code: 'ETIMEDOUT' }]);
  });

  it('probes continue until one is answered → closed, and reported once', async () => {
    await connected().ended;
    await eventually(() => probed >= 2, { withinMs: 10_000 });
    expect(breaker.isOpen).toBe(true);
    answers = true;
    await eventually(() => !breaker.isOpen, { withinMs: 10_000 });
    expect(probed).toBeGreaterThanOrEqual(3);
    expect(changes).toEqual([true, false]);
  });

  it('bytes that arrived while this process was busy → the connection is kept', async () => {
    server.on('connection', (socket) => void socket.write('late but there'));
    const socket = breaker.socket();
    socket.connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const busyUntilMs = performance.now() + 2 * SILENCE_MS;
    while (performance.now() < busyUntilMs) JSON.parse('{}');
    await once(socket, 'data');
    socket.setTimeout(0);
    // A timer that would cut it was set before this one, and is shorter.
    await sleep(100);
    expect([socket.destroyed, breaker.isOpen]).toEqual([false, false]);
    socket.destroy();
  });

  it('ended → no further probes', async () => {
    await connected().ended;
    await eventually(() => probed >= 1, { withinMs: 10_000 });
    breaker.end();
    const before = probed;
    // One that opens now probes as often, and continues.
    let probedLater = 0;
    const later = aBreaker(() => probedLater++);
    await connected(later).ended;
    await eventually(() => probedLater >= 3, { withinMs: 10_000 });
    later.end();
    expect(probed).toBe(before);
  });
});
