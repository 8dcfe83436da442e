import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { SystemClock } from '../clock.js';
import { GatewayError } from '../errors/gateway-error.js';
import { GatewayErrorLog } from '../errors/gateway-error-log.js';
import { Log } from '../log/log.js';
import { noteAnswer, refuseUnparsed } from './client-error.js';

interface Conversation {
  readonly socket: Socket;
  readonly requests: readonly [IncomingMessage, ServerResponse][];
  readonly log: Log;
  readonly answer: () => string;
  /** Resolves with the connection's error, if any. */
  readonly closed: Promise<string | undefined>;
}

describe('input that never became a request', () => {
  const lines: string[] = [];
  let server: Server;

  async function exchange(bytes: string): Promise<string> {
    lines.length = 0;
    const log = new Log(new SystemClock(), 'info', (line) => lines.push(line));
    server = createServer({ maxHeaderSize: 2048 }, () => {});
    server.on('clientError', (error, socket) => refuseUnparsed(error, socket as never, log));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(bytes);
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    await once(socket, 'close');
    return answer;
  }

  afterEach(() => {
    server.close();
  });

  it.each([
    ['not HTTP at all', 'HELLO\r\n\r\n', 400],
    ['two lengths that differ', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab', 400],
    [
      'length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\na',
      400,
    ],
    ['headers beyond the bound', `GET / HTTP/1.1\r\nhost: x\r\nx-long: ${'y'.repeat(4000)}\r\n\r\n`, 431],
  ])('%s → our envelope, one line, connection closed', async (_name, bytes, status) => {
    const answer = await exchange(bytes);
    const [head = '', body = ''] = answer.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toContain('connection: close');
    expect(JSON.parse(body)).toMatchObject({ error: { code: 'invalid_request' } });
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ message: 'gateway_error', level: 'warn', status });
  });

  it.each([
    ['keeps silent', () => {}],
    ['goes on sending', (socket: Socket) => void socket.write('a')],
  ])('a client that %s and does not close its side → the connection is closed', async (_name, drip) => {
    const log = new Log(new SystemClock(), 'info', () => {});
    const bounds = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 50 };
    server = createServer(bounds, (request) => void request.resume());
    server.on('clientError', (error, refused) => refuseUnparsed(error, refused as Socket, log));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const held = once(server, 'connection');
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    const dripping = setInterval(() => drip(socket), 100);
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\na');
    const [[refused], [answer]] = await Promise.all([held, once(socket, 'data')]);
    expect(String(answer)).toMatch(/^HTTP\/1\.1 408 /);
    await eventually(() => refused.destroyed, { withinMs: 10_000 });
    clearInterval(dripping);
    socket.destroy();
  });

  /** A server whose requests the test handles, and one connection that sends these bytes. */
  async function conversation(bytes: string | Buffer): Promise<Conversation> {
    lines.length = 0;
    const log = new Log(new SystemClock(), 'info', (line) => lines.push(line));
    const requests: [IncomingMessage, ServerResponse][] = [];
    server = createServer((message, response) => {
      noteAnswer(response);
      requests.push([message, response]);
    });
    server.on('clientError', (error, socket) => refuseUnparsed(error, socket as Socket, log));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const parts: Buffer[] = [];
    let failure: string | undefined;
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', ({ message }) => {
      failure = message;
    });
    socket.write(bytes);
    const answer = () => Buffer.concat(parts).toString();
    return { socket, requests, log, answer, closed: once(socket, 'close').then(() => failure) };
  }

  const HEAD = 'POST /v1/admin/apps?a=b HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n';

  it('a malformed body → 400 for its request, logged once', async () => {
    const { requests, log, answer, closed } = await conversation(`${HEAD}zz\r\n`);
    await closed;
    expect(answer()).toMatch(/^HTTP\/1\.1 400 /);
    const [message] = requests[0] ?? [];
    if (message === undefined) throw new Error('no request');
    new GatewayErrorLog(log).write({ raw: message, method: 'POST', headers: {} }, new GatewayError('invalid_request'));
    const written = { code: 'invalid_request', reason: 'http_not_parsed', path: '/v1/admin/apps', method: 'POST' };
    expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining(written)]);
  });

  it('non-HTTP bytes after a request that waits for its answer → that answer, then the refusal', async () => {
    const { requests, answer, closed } = await conversation('GET / HTTP/1.1\r\nhost: x\r\n\r\nGARBAGE\r\n\r\nGARBAGE');
    await eventually(() => requests.length === 1, { withinMs: 10_000 });
    expect(answer()).toBe('');
    requests[0]?.[1].end('ok');
    await closed;
    expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(lines).toHaveLength(1);
  });

  it('a malformed body after a request that waits for its answer → refused in turn', async () => {
    const { requests, answer, closed } = await conversation(`GET / HTTP/1.1\r\nhost: x\r\n\r\n${HEAD}zz\r\n`);
    await eventually(() => requests.length === 2, { withinMs: 10_000 });
    requests[0]?.[1].end('ok');
    await closed;
    expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(lines).toHaveLength(1);
  });

  it('non-HTTP bytes after a request that has just been answered → that answer, then the refusal', async () => {
    const { socket, requests, answer, closed } = await conversation('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => requests.length === 1, { withinMs: 10_000 });
    socket.write('GARBAGE\r\n\r\n');
    requests[0]?.[1].end('ok');
    await closed;
    expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });

  it('non-HTTP bytes after a request whose answer closes the connection → only that answer', async () => {
    const { requests, answer, closed } = await conversation('GET / HTTP/1.0\r\n\r\nGARBAGE\r\n\r\n');
    await eventually(() => requests.length === 1, { withinMs: 10_000 });
    requests[0]?.[1].end('ok');
    await closed;
    expect([answer().match(/HTTP\/1\.1 \d+/g), lines]).toEqual([['HTTP/1.1 200'], []]);
  });

  it('ADR 0030: non-HTTP bytes in the middle of an answer → the connection is closed', async () => {
    const { socket, requests, answer, closed } = await conversation('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => requests.length === 1, { withinMs: 10_000 });
    requests[0]?.[1].write('half');
    await once(socket, 'data');
    socket.write('GARBAGE\r\n\r\n');
    await closed;
    expect([answer().endsWith('half\r\n'), lines]).toEqual([true, []]);
  });

  it('non-HTTP bytes on a connection that has served before → refused as on any other', async () => {
    const { socket, requests, answer, closed } = await conversation('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => requests.length === 1, { withinMs: 10_000 });
    requests[0]?.[1].end('ok');
    await once(socket, 'data');
    socket.write('GARBAGE\r\n\r\n');
    await closed;
    expect(answer().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(lines).toHaveLength(1);
  });

  it('RFC 9112 9.6: endless headers written before the client reads the answer → the answer arrives, no reset', async () => {
    const { socket, answer, closed } = await conversation('GET / HTTP/1.1\r\nhost: x\r\nx-long: ');
    socket.pause();
    for (let sent = 0; sent < 20; sent++) await new Promise((done) => socket.write(Buffer.alloc(100_000, 'y'), done));
    socket.resume();
    expect(await closed).toBeUndefined();
    expect(answer()).toMatch(/^HTTP\/1\.1 431 /);
    expect(lines).toHaveLength(1);
  });
});
