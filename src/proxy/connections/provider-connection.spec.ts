import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { buildConnector } from 'undici';
import { loopbackCertificate } from '../../../test/support/client-auth/issuers/issuer-certificate.js';
import { eventually } from '../../../test/support/eventually.js';
import { callOn } from '../../../test/support/proxy/connection-call.js';
import { SystemClock } from '../../common/clock.js';
import { guardedConnector } from '../../platform/outbound/guarded-connector.js';
import { parseTrustedHosts } from '../../platform/outbound/trusted-hosts.rules.js';
import { type ConnectionEvents, ProviderConnection } from './provider-connection.js';

const POST = { method: 'POST', path: '/v1/x', headers: ['x-a', '1'], ttfbTimeoutMs: 0 };
const HEAD = 'HTTP/1.1 200 OK\r\n';
const WHOLE = `${HEAD}content-length: 5\r\n\r\n12345`;
const UNFINISHED = `${HEAD}content-length: 5\r\n\r\n123`;
const connector = guardedConnector({
  trustedHosts: parseTrustedHosts('127.0.0.1'),
  readBuffer: Buffer.allocUnsafeSlow(64 * 1024),
});

const servers: Server[] = [];
const sockets: Socket[] = [];
const usualCertificates = tls.getCACertificates('default');

afterEach(() => {
  tls.setDefaultCACertificates(usualCertificates);
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** A provider that treats each connection as the test specifies; all received bytes, by connection. */
async function provider(
  onConnection: (socket: Socket) => void,
  create: (on: (socket: Socket) => void) => Server = createServer,
) {
  const received: string[] = [];
  const server = create((socket) => {
    sockets.push(socket);
    const at = received.push('') - 1;
    socket.on('data', (bytes: Buffer) => {
      received[at] += bytes.toString('latin1');
    });
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  servers.push(server);
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return { port: (server.address() as AddressInfo).port, received };
}

/** Sends these answers, one for each request; requests of the tests have no body. */
function answering(...answers: string[]) {
  return (socket: Socket) => void socket.on('data', () => void socket.write(answers.shift() ?? '', 'latin1'));
}

function connectionTo(
  port: number,
  {
    silenceTimeoutMs = 0,
    connect: dial = connector,
    protocol = 'http:',
  }: { silenceTimeoutMs?: number; connect?: buildConnector.connector; protocol?: string } = {},
): ProviderConnection {
  const origin = new URL(`${protocol}//127.0.0.1:${port}`);
  // Acquired again as soon as it is free, so that a test can send the next call.
  return new ProviderConnection(origin, dial, silenceTimeoutMs, new SystemClock(), (free) => free.take());
}

/** Events of a call that the test starts itself. */
function listening(changes: Partial<ConnectionEvents> = {}) {
  const told: string[] = [];
  const events: ConnectionEvents = {
    onSend: () => void told.push('send'),
    onHead: ({ status }) => void told.push(`head ${status}`),
    onBytes: (bytes) => void told.push(bytes.toString('latin1')),
    onEnd: () => void told.push('end'),
    onFailure: (error) => void told.push(`failure: ${'code' in error ? error.code : error.message}`),
    ...changes,
  };
  return { told, events };
}

describe('calls on a connection', () => {
  it('one after the other → one socket, the requests unchanged', async () => {
    const { port, received } = await provider(
      answering(WHOLE, `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n`),
    );
    const connection = connectionTo(port);
    expect(connection.isOpen).toBe(false);
    expect(await callOn(connection, POST)).toMatchObject({ head: { status: 200 }, body: Buffer.from('12345') });
    expect(connection.isOpen).toBe(true);
    expect(await callOn(connection, { method: 'GET', path: '/y' })).toMatchObject({ body: Buffer.from('ab') });
    const fixed = `host: 127.0.0.1:${port}\r\nconnection: keep-alive\r\n`;
    expect(received).toEqual([
      `POST /v1/x HTTP/1.1\r\n${fixed}x-a: 1\r\ncontent-length: 0\r\n\r\nGET /y HTTP/1.1\r\n${fixed}\r\n`,
    ]);
  });

  it.each([
    ['short', Buffer.from('{"caf\u00e9":"\u{1f600}"}')],
    ['large', Buffer.alloc(3_000_000, 'abc')],
    ['in pieces', [Buffer.from('{"a":'), Buffer.alloc(100_000, '1'), Buffer.from('}')]],
  ])('body, %s → received unchanged', async (_name, body) => {
    const { port, received } = await provider((socket) => {
      socket.on('data', () => {
        if ((received[0] ?? '').endsWith(sent)) socket.write(WHOLE);
      });
    });
    const sent = (Buffer.isBuffer(body) ? body : Buffer.concat(body)).toString('latin1');
    await callOn(connectionTo(port), { ...POST, body });
    const [head = '', ...rest] = (received[0] ?? '').split('\r\n\r\n');
    expect(head).toContain(`content-length: ${sent.length}`);
    expect(rest.join('\r\n\r\n') === sent).toBe(true);
  });

  it('body until the provider closes → complete; the connection cannot be reused', async () => {
    const { port } = await provider((socket) => void socket.on('data', () => void socket.end(`${HEAD}\r\nabc`)));
    const connection = connectionTo(port);
    expect(await callOn(connection)).toMatchObject({ body: Buffer.from('abc') });
    expect(connection.isOpen).toBe(false);
    await expect(callOn(connection)).rejects.toMatchObject({ code: 'closed' });
  });

  it.each([
    ['closes the connection after its answer', `${HEAD}connection: close\r\ncontent-length: 0\r\n\r\n`],
    ['sends bytes after its answer', `${WHOLE}x`],
  ])('provider that %s → answered, and closed', async (_name, answer) => {
    const { port } = await provider(answering(answer));
    const connection = connectionTo(port);
    expect(await callOn(connection)).toMatchObject({ head: { status: 200 } });
    expect(connection.isOpen).toBe(false);
    await eventually(() => sockets[0]?.destroyed === true, { withinMs: 10_000 });
  });

  it('bytes without an open call → closed', async () => {
    const { port } = await provider(answering(WHOLE));
    const connection = connectionTo(port);
    await callOn(connection);
    sockets[0]?.write(WHOLE);
    await eventually(() => !connection.isOpen, { withinMs: 10_000 });
  });

  it('provider that closes an idle connection → closed on this side too', async () => {
    const { port } = await provider(answering(WHOLE));
    const connection = connectionTo(port);
    await callOn(connection);
    sockets[0]?.end();
    await eventually(() => !connection.isOpen, { withinMs: 10_000 });
  });

  it('answer before the request is written → answered, and closed', async () => {
    const { port } = await provider((socket) => {
      socket.once('data', () => {
        socket.pause();
        socket.write(WHOLE);
      });
    });
    const connection = connectionTo(port);
    expect(await callOn(connection, { ...POST, body: Buffer.alloc(50_000_000) })).toMatchObject({
      body: Buffer.from('12345'),
    });
    expect(connection.isOpen).toBe(false);
  });
});

describe('calls that fail', () => {
  it.each([
    ['before its head', ''],
    ['in its head', 'HTTP/1.1 200 OK\r\nx-a'],
    ['in its body', UNFINISHED],
    ['between chunks', `${HEAD}transfer-encoding: chunked\r\n\r\n1\r\na\r\n`],
  ])('provider that ends %s → closed', async (_name, answer) => {
    for (const end of [
      (socket: Socket) => void socket.end(answer),
      (socket: Socket) => void socket.write(answer, () => socket.destroy()),
    ]) {
      const { port } = await provider((socket) => void socket.once('data', () => end(socket)));
      await expect(callOn(connectionTo(port))).rejects.toMatchObject({ code: 'closed' });
    }
  });

  it('provider that resets the connection → its error', async () => {
    const { port } = await provider((socket) => void socket.once('data', () => socket.resetAndDestroy()));
    await expect(callOn(connectionTo(port))).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  it('invalid answer → refused, and closed', async () => {
    const { port } = await provider(answering('HTTP/1.1 OK\r\n\r\n'));
    const connection = connectionTo(port);
    await expect(callOn(connection)).rejects.toMatchObject({ code: 'invalid_answer' });
    expect(connection.isOpen).toBe(false);
  });

  it('no listener → the system error; nothing is sent', async () => {
    const { port } = await provider(() => undefined);
    servers.splice(0)[0]?.close();
    const { told, events } = listening();
    connectionTo(port).send({ ...POST, body: undefined }, events);
    await eventually(() => told.length > 0, { withinMs: 10_000 });
    expect(told).toEqual(['failure: ECONNREFUSED']);
  });

  it('header that contains a line break → nothing is sent', async () => {
    const { port, received } = await provider(answering(WHOLE));
    const { told, events } = listening();
    connectionTo(port).send({ ...POST, headers: ['x-a', '1\r\nx-b: 2'], body: undefined }, events);
    await eventually(() => told.length > 0, { withinMs: 10_000 });
    await callOn(connectionTo(port));
    expect(told).toEqual(['failure: invalid_request']);
    expect(received[0]).toBe('');
  });

  it('request that turns out not to be allowed → its error; nothing is sent', async () => {
    const { port, received } = await provider(answering(WHOLE));
    const refuse = () => {
      throw new Error('not recorded');
    };
    const { told, events } = listening({ onSend: refuse });
    connectionTo(port).send({ ...POST, body: undefined }, events);
    await eventually(() => told.length > 0, { withinMs: 10_000 });
    await callOn(connectionTo(port));
    expect(told).toEqual(['failure: not recorded']);
    expect(received[0]).toBe('');
  });

  it('receiver that throws → its error, and closed', async () => {
    const { port } = await provider(answering(UNFINISHED));
    const connection = connectionTo(port);
    const { told, events } = listening({
      onBytes: () => {
        throw new Error('cannot relay');
      },
    });
    connection.send({ ...POST, body: undefined }, events);
    await eventually(() => told.length > 2, { withinMs: 10_000 });
    expect(told).toEqual(['send', 'head 200', 'failure: cannot relay']);
    expect(connection.isOpen).toBe(false);
  });
});

describe('calls that are aborted', () => {
  it('while connecting → at once; the socket that opens later is closed, and nothing is sent', async () => {
    const { port, received } = await provider(answering(WHOLE));
    const { told, events } = listening();
    const connection = connectionTo(port);
    connection.send({ ...POST, body: undefined }, events);
    connection.abort(new Error('enough'));
    expect(told).toEqual(['failure: enough']);
    await eventually(() => sockets[0]?.destroyed === true, { withinMs: 10_000 });
    expect(told).toHaveLength(1);
    expect(received).toEqual(['']);
  });

  it('immediately before it is sent → nothing is sent', async () => {
    const { port, received } = await provider(answering(WHOLE));
    const connection = connectionTo(port);
    const { told, events } = listening({ onSend: () => connection.abort(new Error('enough')) });
    connection.send({ ...POST, body: undefined }, events);
    await eventually(() => sockets[0]?.destroyed === true, { withinMs: 10_000 });
    expect(told).toEqual(['failure: enough']);
    expect(received).toEqual(['']);
  });

  it('during its answer → ended once, nothing follows, and the provider sees its connection close', async () => {
    const { port } = await provider(answering(UNFINISHED));
    const connection = connectionTo(port);
    const { told, events } = listening();
    connection.send({ ...POST, body: undefined }, events);
    await eventually(() => told.includes('123'), { withinMs: 10_000 });
    connection.abort(new Error('enough'));
    connection.abort(new Error('again'));
    sockets[0]?.write('45');
    await eventually(() => sockets[0]?.destroyed === true, { withinMs: 10_000 });
    expect(told).toEqual(['send', 'head 200', '123', 'failure: enough']);
  });

  it('by its receiver while data is delivered → none of the rest', async () => {
    const { port } = await provider(answering(WHOLE));
    const connection = connectionTo(port);
    const { told, events } = listening({ onHead: () => connection.abort(new Error('enough')) });
    connection.send({ ...POST, body: undefined }, events);
    await eventually(() => told.length > 1, { withinMs: 10_000 });
    await eventually(() => sockets[0]?.destroyed === true, { withinMs: 10_000 });
    expect(told).toEqual(['send', 'failure: enough']);
  });
});

describe('a receiver that pauses', () => {
  it('large answer → stops arriving, and arrives completely later', async () => {
    const size = 20_000_000;
    const { port } = await provider((socket) => {
      socket.once(
        'data',
        () =>
          void socket.write(
            Buffer.concat([Buffer.from(`${HEAD}content-length: ${size}\r\n\r\n`), Buffer.alloc(size, 'a')]),
          ),
      );
    });
    const connection = connectionTo(port);
    let bytes = 0;
    const { told, events } = listening({
      onBytes: ({ length }) => {
        if (bytes === 0) connection.pause();
        bytes += length;
      },
    });
    connection.send({ ...POST, body: undefined }, events);
    await eventually(() => bytes > 0, { withinMs: 10_000 });
    // Another one that begins later has all of it before.
    expect((await callOn(connectionTo(port))).body).toHaveLength(size);
    expect(bytes).toBeLessThanOrEqual(64 * 1024);
    connection.resume();
    await eventually(() => told.includes('end'), { withinMs: 10_000 });
    expect(bytes).toBe(size);
  });
});

describe('a provider that stops sending', () => {
  const SILENCE_MS = 150;

  async function silentAfter(answer: string, silenceTimeoutMs = SILENCE_MS) {
    const { port } = await provider(answering(answer, WHOLE));
    const connection = connectionTo(port, { silenceTimeoutMs });
    const { told, events } = listening();
    connection.send({ ...POST, body: undefined }, events);
    return { connection, told, startedMs: performance.now() };
  }

  it('in its body → fails after the limit', async () => {
    const { told, startedMs } = await silentAfter(UNFINISHED);
    await eventually(() => told.length > 3, { withinMs: 10_000 });
    expect(told).toEqual(['send', 'head 200', '123', 'failure: silent']);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(SILENCE_MS - 5);
  });

  it('each chunk → restarts the time', async () => {
    // So long that a pause of the machine does not count as silence.
    const silenceMs = 1_500;
    const { told } = await silentAfter(`${HEAD}transfer-encoding: chunked\r\n\r\n`, silenceMs);
    for (let piece = 0; piece < 5; piece++) {
      await sleep(silenceMs * 0.3);
      sockets[0]?.write('1\r\na\r\n');
    }
    await eventually(() => told.filter((one) => one === 'a').length === 5, { withinMs: 10_000 });
    await eventually(() => told.at(-1) === 'failure: silent', { withinMs: 10_000 });
  });

  it('before its head, and between calls → not limited', async () => {
    const { connection, told } = await silentAfter('');
    // Here and below: a timer of the connection that ran would have been set before, and is shorter.
    await sleep(SILENCE_MS * 2);
    expect(told).toEqual(['send']);
    sockets[0]?.write(WHOLE);
    await eventually(() => told.includes('end'), { withinMs: 10_000 });
    await sleep(SILENCE_MS * 2);
    expect(connection.isOpen).toBe(true);
    expect(await callOn(connection)).toMatchObject({ body: Buffer.from('12345') });
  });

  it('in the second call of a connection → fails as well', async () => {
    const { port } = await provider(answering(WHOLE, UNFINISHED));
    const connection = connectionTo(port, { silenceTimeoutMs: SILENCE_MS });
    await callOn(connection);
    await sleep(SILENCE_MS * 2);
    await expect(callOn(connection)).rejects.toMatchObject({ code: 'silent' });
  });

  it('while its receiver has paused it → not limited; the time starts when it resumes', async () => {
    const { connection, told } = await silentAfter(UNFINISHED);
    await eventually(() => told.includes('123'), { withinMs: 10_000 });
    connection.pause();
    await sleep(SILENCE_MS * 3);
    expect(told).not.toContain('failure: silent');
    connection.resume();
    await sleep(SILENCE_MS * 0.5);
    expect(told).not.toContain('failure: silent');
    await eventually(() => told.includes('failure: silent'), { withinMs: 10_000 });
  });
});

describe('a provider that does not answer in time', () => {
  const TTFB_MS = 400;
  const LIMITED = { ...POST, body: undefined, ttfbTimeoutMs: TTFB_MS };

  it('no head → fails after the limit, and closed', async () => {
    const { port } = await provider(answering('HTTP/1.1 100 Continue\r\n\r\n'));
    const connection = connectionTo(port);
    const { told, events } = listening();
    const startedMs = performance.now();
    connection.send(LIMITED, events);
    await eventually(() => told.length > 2, { withinMs: 10_000 });
    expect(told).toEqual(['send', 'head 100', 'failure: timeout']);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(TTFB_MS - 5);
    expect(connection.isOpen).toBe(false);
  });

  it('no connection → fails after the limit; the socket that opens later is closed', async () => {
    const { port } = await provider(answering(WHOLE));
    const late: buildConnector.connector = (options, callback) =>
      void setTimeout(() => connector(options, callback), TTFB_MS * 2);
    const { told, events } = listening();
    connectionTo(port, { connect: late }).send(LIMITED, events);
    await eventually(() => told.length > 0, { withinMs: 10_000 });
    expect(told).toEqual(['failure: timeout']);
    await eventually(() => sockets[0]?.destroyed === true, { withinMs: 10_000 });
    expect(told).toHaveLength(1);
  });

  it('head in time, body later → answered; the next call has the full time again', async () => {
    const { port } = await provider((socket) => {
      socket.on('data', async () => {
        socket.write(`${HEAD}content-length: 5\r\n\r\n`);
        await sleep(TTFB_MS * 1.3);
        socket.write('12345');
      });
    });
    const connection = connectionTo(port);
    for (let call = 0; call < 2; call++) {
      expect(await callOn(connection, LIMITED)).toMatchObject({ body: Buffer.from('12345') });
    }
    await sleep(TTFB_MS * 1.3);
    expect(connection.isOpen).toBe(true);
  });

  it('another limit for the next call → applies', async () => {
    const { port } = await provider(answering(WHOLE));
    const connection = connectionTo(port);
    await callOn(connection, { ...LIMITED, ttfbTimeoutMs: 60_000 });
    await expect(callOn(connection, LIMITED)).rejects.toMatchObject({ code: 'timeout' });
  });
});

describe('TLS', () => {
  it('calls at the same time, whose sockets read into the same memory → each its own answer', async () => {
    const { certificate, privateKey } = await loopbackCertificate();
    tls.setDefaultCACertificates([certificate]);
    const body = (letter: string) => letter.repeat(300_000);
    const { port } = await provider(
      (socket) => {
        socket.on('data', (bytes: Buffer) => {
          const letter = bytes.toString('latin1').slice('GET /'.length)[0] ?? '';
          socket.write(`${HEAD}content-length: 300000\r\n\r\n`);
          for (let piece = 0; piece < 30; piece++) socket.write(letter.repeat(10_000));
        });
      },
      (on) => tls.createServer({ key: privateKey, cert: certificate }, on),
    );
    const letters = ['a', 'b', 'c', 'd'];
    const connections = letters.map(() => connectionTo(port, { protocol: 'https:' }));
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(
        letters.map((letter, at) => callOn(connections[at] as ProviderConnection, { path: `/${letter}` })),
      );
      expect(answers.map(({ body: bytes }) => bytes.toString('latin1'))).toEqual(letters.map(body));
    }
    expect(sockets).toHaveLength(letters.length);
  });

  it('untrusted certificate → refused; nothing is sent', async () => {
    const { certificate, privateKey } = await loopbackCertificate();
    const { port, received } = await provider(answering(WHOLE), (on) =>
      tls.createServer({ key: privateKey, cert: certificate }, on),
    );
    await expect(callOn(connectionTo(port, { protocol: 'https:' }))).rejects.toMatchObject({
      code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    });
    expect(received.join('')).toBe('');
  });
});
