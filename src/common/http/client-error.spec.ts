import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../test/support/eventually.js';
import { SystemClock } from '../clock.js';
import { Log } from '../log/log.js';
import { refuseUnparsed } from './client-error.js';

describe('what never became a request (decision 6.9)', () => {
  const lines: string[] = [];
  let server: Server;

  async function exchange(bytes: string, respond = false): Promise<string> {
    lines.length = 0;
    const log = new Log(new SystemClock(), 'info', (line) => lines.push(line));
    server = createServer({ maxHeaderSize: 2048 }, (_request, response) => {
      if (respond) response.end('ok');
    });
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
  ])('threats 10.1: client that %s and does not close its side → given up all the same', async (_name, drip) => {
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
    await eventually(() => refused.destroyed, { withinMs: 4_000 });
    clearInterval(dripping);
    socket.destroy();
  });

  it('garbage behind an answered request → cut without a second answer', async () => {
    const answer = await exchange('GET / HTTP/1.1\r\nhost: x\r\n\r\nGARBAGE\r\n\r\n', true);
    expect(answer.match(/HTTP\/1\.1/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });
});
