import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { BlockedAddressError, Resolver } from './guarded-connector.js';
import { GuardedRequest, OutboundError, type OutboundFailure } from './guarded-request.js';
import { OwnAddresses } from './own-addresses.js';
import { parseTrustedHosts } from './trusted-hosts.rules.js';

const LIMITS = { timeoutMs: 3_000, maxBytes: 1_024 };
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function serverWith(listener: RequestListener): Promise<{ port: number; count: () => number }> {
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    listener(request, response);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  closers.push(async () => server.closeAllConnections());
  closers.push(() => new Promise((done) => server.close(done)));
  return { port: (server.address() as AddressInfo).port, count: () => requests };
}

interface ClientOptions {
  readonly trust?: string;
  readonly answers?: readonly string[][];
  readonly connectTimeoutMs?: number;
  readonly own?: OwnAddresses;
}

function client(options: ClientOptions = {}) {
  const asked: string[] = [];
  const answers = options.answers ?? [];
  const resolver: Resolver = async (name) => {
    const step = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(name);
    return step.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
  const trustedHosts = parseTrustedHosts(options.trust ?? '');
  const request = new GuardedRequest({
    trustedHosts,
    resolver,
    connectTimeoutMs: options.connectTimeoutMs,
    own: options.own,
  });
  closers.unshift(() => request.close());
  return { request, asked };
}

async function failure(call: Promise<unknown>): Promise<OutboundError> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OutboundError)) throw new Error(`OutboundError expected, got ${String(error)}`);
  return error;
}

const reasonOf = async (call: Promise<unknown>): Promise<OutboundFailure> => (await failure(call)).reason;

describe('GuardedRequest: answers', () => {
  it('trusted host, plain http → status, headers and body, with our headers sent', async () => {
    const { port } = await serverWith((request, response) => {
      response.writeHead(201, { 'x-seen': request.headers['x-probe'] }).end(`${request.method} ${request.url}`);
    });
    const { request } = client({ trust: 'models.internal', answers: [['127.0.0.1']] });
    const answer = await request.get(`http://models.internal:${port}/v1/models?a=b#c`, {
      ...LIMITS,
      headers: { 'x-probe': 'p' },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers['x-seen']).toBe('p');
    expect(answer.body.toString()).toBe('GET /v1/models?a=b');
  });

  it('post → the body and its headers arrive; a redirect is returned, not followed', async () => {
    const server = await serverWith((request, response) => {
      request.setEncoding('utf8').on('data', (sent: string) => {
        const type = request.headers['content-type'];
        response.writeHead(307, { location: '/elsewhere' }).end(`${request.method} ${type} ${sent}`);
      });
    });
    const { request } = client({ trust: '127.0.0.1' });
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    const answer = await request.post(`http://127.0.0.1:${server.port}/token`, { ...LIMITS, headers, body: 'a=b' });
    expect(answer.status).toBe(307);
    expect(answer.body.toString()).toBe('POST application/x-www-form-urlencoded a=b');
    expect(server.count()).toBe(1);
    expect(await reasonOf(client().request.post(`http://127.0.0.1:${server.port}/`, { ...LIMITS, body: '' }))).toBe(
      'blocked',
    );
  });

  it('redirect → returned, not followed', async () => {
    const server = await serverWith((_q, response) => response.writeHead(302, { location: '/elsewhere' }).end());
    const answer = await client({ trust: '127.0.0.1' }).request.get(`http://127.0.0.1:${server.port}/`, LIMITS);
    expect(answer.status).toBe(302);
    expect(answer.headers.location).toBe('/elsewhere');
    expect(server.count()).toBe(1);
  });

  it('discardBody → the status at once, without waiting for an endless body', async () => {
    const { port } = await serverWith((_q, response) => void response.writeHead(200).write('x'.repeat(5_000)));
    const { request } = client({ trust: '127.0.0.1' });
    const answer = await request.get(`http://127.0.0.1:${port}/`, { ...LIMITS, discardBody: true });
    expect(answer).toMatchObject({ status: 200, body: Buffer.alloc(0) });
  });

  it.each([1_024, 1_025])('body of %i bytes with a bound of 1,024 → exactly up to the bound', async (bytes) => {
    const { port } = await serverWith((_q, response) => response.end(Buffer.alloc(bytes)));
    const call = client({ trust: '127.0.0.1' }).request.get(`http://127.0.0.1:${port}/`, LIMITS);
    if (bytes === 1_024) expect((await call).body).toHaveLength(1_024);
    else expect(await reasonOf(call)).toBe('too_large');
  });
});

describe('GuardedRequest: failures', () => {
  it.each<[string, RequestListener]>([
    ['before the headers', () => {}],
    ['inside the body', (_q, response) => void response.writeHead(200).write('x')],
    [
      'between ever new bytes',
      (_q, response) => {
        const drip = setInterval(() => response.write('x'), 20);
        response.on('close', () => clearInterval(drip));
      },
    ],
  ])('slow %s → timeout for the whole exchange', async (_name, listener) => {
    const { port } = await serverWith(listener);
    const call = client({ trust: '127.0.0.1' }).request.get(`http://127.0.0.1:${port}/`, { ...LIMITS, timeoutMs: 200 });
    expect(await reasonOf(call)).toBe('timeout');
  });

  it.each(['', 'nonsense', 'ftp://a.example/', 'file:///etc/passwd', 'https://u:p@a.example/', 'https://u@a.example/'])(
    'url "%s" → invalid_url',
    async (url) => expect(await reasonOf(client().request.get(url, LIMITS))).toBe('invalid_url'),
  );

  it('broken connection, closed port, unknown name, impossible header → unreachable', async () => {
    const { port } = await serverWith((_q, response) => response.destroy());
    const { request } = client({ trust: '127.0.0.1', answers: [[]] });
    expect(await reasonOf(request.get(`http://127.0.0.1:${port}/`, LIMITS))).toBe('unreachable');
    expect(await reasonOf(request.get('http://127.0.0.1:1/', LIMITS))).toBe('unreachable');
    expect(await reasonOf(request.get('https://nowhere.example/', LIMITS))).toBe('unreachable');
    const headers = { 'x-bad': 'line\nbreak' };
    expect(await reasonOf(request.get(`http://127.0.0.1:${port}/`, { ...LIMITS, headers }))).toBe('unreachable');
  });

  it('closed → every further call is unreachable', async () => {
    const { request } = client({ trust: '127.0.0.1' });
    await request.close();
    expect(await reasonOf(request.get('http://127.0.0.1:1/', LIMITS))).toBe('unreachable');
  });
});

describe('GuardedRequest: the guard', () => {
  it.each([
    '127.0.0.1',
    '0x7f.1',
    '2130706433',
    '0177.0.0.1',
    '127.1',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '0',
    '１２７.0.0.1',
  ])('literal %s without trust → blocked, over http and https, nothing arrives', async (host) => {
    const server = await serverWith((_q, response) => response.end());
    const { request, asked } = client();
    expect(await reasonOf(request.get(`http://${host}:${server.port}/`, LIMITS))).toBe('blocked');
    expect(await reasonOf(request.get(`https://${host}:${server.port}/`, LIMITS))).toBe('blocked');
    expect(server.count()).toBe(0);
    expect(asked).toEqual([]);
  });

  it.each([['127.0.0.1'], ['::1'], ['10.0.0.8'], ['::ffff:127.0.0.1'], ['64:ff9b::7f00:1'], ['not an address']])(
    'name that resolves to %s → blocked; the message contains no address',
    async (address) => {
      const error = await failure(client({ answers: [[address]] }).request.get('https://rebind.example/', LIMITS));
      expect(error.reason).toBe('blocked');
      expect((error.cause as BlockedAddressError).code).toBe('ERR_BLOCKED_ADDRESS');
      expect((error.cause as BlockedAddressError).address).toBe(address);
      expect(`${error.message} ${String(error.cause)}`).not.toContain(address);
    },
  );

  it.each(['not an address', 'fe80::a9fe:a9fe%eth0', '0x7f.1'])(
    'trusted name that resolves to "%s" → blocked: it cannot be compared with the metadata addresses',
    async (address) => {
      const { request } = client({ trust: 'svc.internal', answers: [[address]] });
      expect(await reasonOf(request.get('http://svc.internal/', LIMITS))).toBe('blocked');
    },
  );

  it('one private address among public ones → blocked', async () => {
    const { request } = client({ answers: [['8.8.8.8', '10.0.0.1']] });
    expect(await reasonOf(request.get('https://mixed.example/', LIMITS))).toBe('blocked');
  });

  it('name whose resolution turns private → each connection is checked by the address that it dials', async () => {
    const server = await serverWith((_q, response) => response.writeHead(200, { connection: 'close' }).end());
    const { request, asked } = client({ trust: '127.0.0.1', answers: [['127.0.0.1'], ['127.0.0.2']] });
    const url = `http://rebind.example:${server.port}/`;
    expect((await request.get(url, LIMITS)).status).toBe(200);
    expect(await reasonOf(request.get(url, LIMITS))).toBe('blocked');
    expect(asked).toEqual(['rebind.example', 'rebind.example']);
    expect(server.count()).toBe(1);
  });

  it('one connection → one DNS query: the checked address is the one dialled', async () => {
    const server = await serverWith((_q, response) => response.end('first'));
    const { request, asked } = client({ trust: 'svc.internal', answers: [['127.0.0.1'], ['10.255.255.1']] });
    expect((await request.get(`http://svc.internal:${server.port}/`, LIMITS)).body.toString()).toBe('first');
    expect(asked).toHaveLength(1);
  });

  it('plain http to a public address → blocked before it is dialled', async () => {
    const { request } = client({ answers: [['8.8.8.8']] });
    expect(await reasonOf(request.get('http://public.example/', LIMITS))).toBe('blocked');
    expect(await reasonOf(request.get('http://8.8.8.8/', LIMITS))).toBe('blocked');
  });

  it.each(['169.254.169.254', '[fd00:ec2::254]', '[::ffff:169.254.169.254]', '100.100.100.200', '168.63.129.16'])(
    'metadata %s → blocked even if trusted by name, address and network',
    async (host) => {
      const bare = host.replace(/[[\]]/g, '');
      const trust = `cloud.internal ${bare} 0.0.0.0/0 ::/0`;
      const { request } = client({ trust, answers: [[bare]] });
      expect(await reasonOf(request.get(`http://${host}/latest`, LIMITS))).toBe('blocked');
      expect(await reasonOf(request.get('http://cloud.internal/latest', LIMITS))).toBe('blocked');
    },
  );

  it.each(['metadata.google.internal', 'instance-data', 'METADATA.google.internal.'])(
    'metadata service %s → blocked whatever it resolves to, and not even resolved',
    async (host) => {
      const { request, asked } = client({ trust: `${host.replace(/\.$/, '')} 0.0.0.0/0`, answers: [['127.0.0.1']] });
      expect(await reasonOf(request.get(`http://${host}/`, LIMITS))).toBe('blocked');
      expect(asked).toEqual([]);
    },
  );

  it('trust for one port → another port of the same host is blocked', async () => {
    const [open, other] = [await serverWith((_q, r) => r.end()), await serverWith((_q, r) => r.end())];
    const { request } = client({ trust: `svc.internal:${open.port}`, answers: [['127.0.0.1']] });
    expect((await request.get(`http://svc.internal:${open.port}/`, LIMITS)).status).toBe(200);
    expect(await reasonOf(request.get(`http://svc.internal:${other.port}/`, LIMITS))).toBe('blocked');
  });

  it('https → TLS with the real name and HTTP/1.1 only', async () => {
    const hellos: Buffer[] = [];
    const server = createTcpServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (hello) => {
        hellos.push(hello);
        socket.destroy();
      });
    });
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    closers.push(() => new Promise((done) => server.close(done)));
    const { request } = client({ trust: 'svc.internal', answers: [['127.0.0.1']] });
    const url = `https://svc.internal:${(server.address() as AddressInfo).port}/`;
    expect(await reasonOf(request.get(url, LIMITS))).toBe('unreachable');
    const hello = hellos[0]?.toString('latin1') ?? '';
    expect(hello.charCodeAt(0)).toBe(0x16);
    expect(hello).toContain('svc.internal');
    expect(hello).toContain('\x08http/1.1');
    expect(hello).not.toContain('\x02h2');
  });

  it('resolver that never answers → the connect timeout ends the call', async () => {
    const trustedHosts = parseTrustedHosts('');
    const request = new GuardedRequest({ trustedHosts, resolver: () => new Promise(() => {}), connectTimeoutMs: 200 });
    closers.push(() => request.close());
    expect(await reasonOf(request.get('https://slow.example/', { ...LIMITS, timeoutMs: 10_000 }))).toBe('timeout');
  });
});

describe('GuardedRequest: the gateway itself', () => {
  it('its listener, by address or by a name that resolves to it → blocked, even if trusted; another port → reached', async () => {
    const { port, count } = await serverWith((_request, response) => response.end('here'));
    const other = await serverWith((_request, response) => response.end('there'));
    const own = new OwnAddresses(undefined);
    own.listensAt({ address: '127.0.0.1', port, family: 'IPv4' });
    const { request } = client({ trust: '127.0.0.1, models.internal', answers: [['127.0.0.1']], own });
    for (const host of ['127.0.0.1', 'models.internal', '[::ffff:127.0.0.1]']) {
      const error = await failure(request.get(`http://${host}:${port}/`, LIMITS));
      expect([host, error.reason, (error.cause as BlockedAddressError).code]).toEqual([
        host,
        'blocked',
        'ERR_OWN_ADDRESS',
      ]);
    }
    expect(count()).toBe(0);
    expect(String((await request.get(`http://127.0.0.1:${other.port}/`, LIMITS)).body)).toBe('there');
  });
});
