import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type LoopbackCertificate,
  loopbackCertificate,
} from '../../../../test/support/client-auth/issuers/issuer-certificate.js';
import { eventually } from '../../../../test/support/eventually.js';
import { listening } from '../../../../test/support/loopback.js';
import { type ConnectProxy, startConnectProxy } from '../../../../test/support/platform/connect-proxy.js';
import { Secret } from '../../../common/log/secret.js';
import { OtlpCollector } from '../../traces/otlp-collector.js';
import { KmsClient } from '../../vault/kms-client.js';
import { type BlockedAddressError, guardedConnector } from '../guarded-connector.js';
import { GuardedRequest, OutboundError } from '../guarded-request.js';
import { parseTrustedHosts } from '../trusted-hosts.rules.js';
import type { EgressProxyError } from './egress-connector.js';
import { parseEgressProxy, parseNoProxy } from './egress-proxy.rules.js';

const HOST = 'models.example.com';
const LIMITS = { timeoutMs: 3_000, maxBytes: 1_024 };
const usualCertificates = tls.getCACertificates('default');
const closers: (() => Promise<unknown>)[] = [];
let certificate: LoopbackCertificate;
let proxyCertificate: LoopbackCertificate;

beforeAll(async () => {
  certificate = await loopbackCertificate(HOST);
  proxyCertificate = await loopbackCertificate();
  tls.setDefaultCACertificates([...usualCertificates, certificate.certificate, proxyCertificate.certificate]);
});

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

afterAll(() => tls.setDefaultCACertificates(usualCertificates));

async function server(isTls: boolean): Promise<number> {
  const answer: RequestListener = (request, response) => response.end(`${request.method} ${request.url}`);
  const { certificate: cert, privateKey: key } = certificate;
  const { port, close } = await listening(isTls ? createTlsServer({ cert, key }, answer) : createServer(answer));
  closers.push(close);
  return port;
}

async function proxyWith(options: Parameters<typeof startConnectProxy>[0] = {}): Promise<ConnectProxy> {
  const proxy = await startConnectProxy(options);
  closers.push(proxy.close);
  return proxy;
}

interface ClientOptions {
  readonly trust?: string;
  readonly noProxy?: string;
  readonly connectTimeoutMs?: number;
}

/** A client whose resolver resolves no name, so that only the proxy can. */
function clientOf(proxyUrl: string, { trust = '', noProxy = '', connectTimeoutMs }: ClientOptions = {}) {
  const asked: string[] = [];
  const proxy = parseEgressProxy(proxyUrl);
  const request = new GuardedRequest({
    trustedHosts: parseTrustedHosts(trust),
    egress: { HTTPS_PROXY: proxy, HTTP_PROXY: proxy, NO_PROXY: parseNoProxy(noProxy) },
    resolver: async (host) => {
      asked.push(host);
      return [{ address: '127.0.0.1', family: 4 }];
    },
    ...(connectTimeoutMs && { connectTimeoutMs }),
  });
  closers.push(() => request.close());
  return { request, asked };
}

async function failure(promise: Promise<unknown>): Promise<OutboundError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OutboundError) return error;
  throw new Error(`an outbound error was expected, got ${String(error)}`);
}

describe('outbound calls through a proxy', () => {
  it('https → a tunnel to the name, TLS with the provider inside, its connection kept, nothing resolved here', async () => {
    const port = await server(true);
    const proxy = await proxyWith();
    const { request, asked } = clientOf(`http://127.0.0.1:${proxy.port}`);
    const paths = ['/1', '/2', '/3', '/4', '/5'];
    for (const path of paths) {
      expect(String((await request.get(`https://${HOST}:${port}${path}`, LIMITS)).body)).toBe(`GET ${path}`);
    }
    expect(new Set(proxy.targets)).toEqual(new Set([`${HOST}:${port}`]));
    expect(proxy.targets.length).toBeLessThan(paths.length);
    await request.close();
    await eventually(() => proxy.openConnections() === 0, { withinMs: 3_000 });
    expect(proxy.others).toEqual([]);
    expect(asked).toEqual([]);
  });

  it.each(['https:', 'http:'])(
    '%s with memory shared by sockets, as for provider calls → data arrives',
    async (protocol) => {
      const port = await server(protocol === 'https:');
      const proxy = await proxyWith();
      const url = parseEgressProxy(`http://127.0.0.1:${proxy.port}`);
      const connect = guardedConnector({
        trustedHosts: parseTrustedHosts(HOST),
        egress: { HTTPS_PROXY: url, HTTP_PROXY: url, NO_PROXY: parseNoProxy('') },
        readBuffer: Buffer.alloc(1_024),
      });
      const socket = await new Promise<Socket>((resolve, reject) => {
        const address = { protocol, hostname: HOST, host: `${HOST}:${port}`, port: String(port) };
        connect(address, (error, connected) => (error === null ? resolve(connected) : reject(error)));
      });
      socket.write(`GET /x HTTP/1.1\r\nhost: ${HOST}\r\nconnection: close\r\n\r\n`);
      let text = '';
      socket.on('data', (bytes: Buffer) => {
        text += bytes.toString('latin1');
      });
      await once(socket, 'close');
      expect(text).toContain('\r\n\r\nGET /x');
    },
  );

  it('plain http to a trusted name → a tunnel too', async () => {
    const port = await server(false);
    const proxy = await proxyWith();
    const { request, asked } = clientOf(`http://127.0.0.1:${proxy.port}`, { trust: HOST });
    expect(String((await request.get(`http://${HOST}:${port}/x`, LIMITS)).body)).toBe('GET /x');
    expect(proxy.targets).toEqual([`${HOST}:${port}`]);
    expect(asked).toEqual([]);
  });

  it('TLS to the proxy → TLS inside TLS', async () => {
    const port = await server(true);
    const { certificate: cert, privateKey: key } = proxyCertificate;
    const proxy = await proxyWith({ tls: { cert, key }, credentials: 'operator:right' });
    const { request } = clientOf(`https://operator:right@127.0.0.1:${proxy.port}`);
    expect(String((await request.get(`https://${HOST}:${port}/x`, LIMITS)).body)).toBe('GET /x');
    expect(proxy.targets).toEqual([`${HOST}:${port}`]);
  });

  it('a certificate of another name → refused inside the tunnel', async () => {
    const port = await server(true);
    const proxy = await proxyWith();
    const { request } = clientOf(`http://127.0.0.1:${proxy.port}`);
    const error = await failure(request.get(`https://other.example.com:${port}/`, LIMITS));
    expect([error.reason, (error.cause as { code: string }).code]).toEqual([
      'unreachable',
      'ERR_TLS_CERT_ALTNAME_INVALID',
    ]);
  });

  it('a name in NO_PROXY, and the loopback → dialled directly, and checked by address', async () => {
    const port = await server(false);
    const proxy = await proxyWith();
    const { request, asked } = clientOf(`http://127.0.0.1:${proxy.port}`, {
      trust: `${HOST} 127.0.0.1`,
      noProxy: 'example.com',
    });
    for (const host of [HOST, '127.0.0.1']) {
      expect((await request.get(`http://${host}:${port}/`, LIMITS)).status).toBe(200);
    }
    expect(asked).toEqual([HOST]);
    expect(proxy.targets).toEqual([]);
    const untrusted = clientOf(`http://127.0.0.1:${proxy.port}`, { noProxy: '*' }).request;
    expect((await failure(untrusted.get(`https://${HOST}:${port}/`, LIMITS))).reason).toBe('blocked');
  });

  it.each([
    'https://169.254.169.254/latest',
    'https://[fd00:ec2::254]/',
    'https://[::ffff:169.254.169.254]/',
    'https://2852039166/',
    'https://metadata.google.internal/',
    'https://metadata.google.internal./',
    'https://10.0.0.1/',
    'https://localhost/',
    'http://public.example/',
    'http://8.8.8.8/',
  ])('%s → blocked as without a proxy, which is not contacted', async (url) => {
    const proxy = await proxyWith();
    const { request } = clientOf(`http://127.0.0.1:${proxy.port}`);
    const error = await failure(request.get(url, LIMITS));
    expect([error.reason, (error.cause as BlockedAddressError).code]).toEqual(['blocked', 'ERR_BLOCKED_ADDRESS']);
    expect(proxy.targets).toEqual([]);
    expect(proxy.openConnections()).toBe(0);
  });

  it('the key service and the trace collector → also through the proxy', async () => {
    const posts: string[] = [];
    const { port, close } = await listening(
      createServer((request, response) => {
        posts.push(`${request.headers.host} ${request.url}`);
        response.end('{}');
      }),
    );
    closers.push(close);
    const proxy = await proxyWith();
    const HTTP_PROXY = parseEgressProxy(`http://127.0.0.1:${proxy.port}`);
    const egress = { HTTPS_PROXY: undefined, HTTP_PROXY, NO_PROXY: parseNoProxy('') };
    const settings = { url: new Secret(`http://kms.test:${port}`), token: new Secret('kms-token') };
    const kms = new KmsClient({ mode: 'kms', ...settings }, undefined, egress);
    const collector = new OtlpCollector(`http://traces.test:${port}/`, {}, egress);
    closers.push(() => kms.close());
    closers.push(() => collector.close());
    expect(await kms.post('wrap', {})).toEqual({ body: {} });
    expect(await collector.deliver([])).toBe(0);
    expect(posts).toEqual([`kms.test:${port} /wrap`, `traces.test:${port} /v1/traces`]);
    expect(proxy.targets).toEqual([`kms.test:${port}`, `traces.test:${port}`]);
  });

  it.each([403, 502] as const)('the proxy answers %d → unreachable, with the status', async (status) => {
    const proxy = await proxyWith();
    proxy.behave(status);
    const { request } = clientOf(`http://127.0.0.1:${proxy.port}`);
    const error = await failure(request.get(`https://${HOST}/`, LIMITS));
    expect([error.reason, (error.cause as EgressProxyError).code]).toEqual([
      'unreachable',
      `ERR_EGRESS_PROXY_${status}`,
    ]);
    expect(proxy.targets).toEqual([`${HOST}:443`]);
  });

  it.each([
    ['right', undefined],
    ['wrong', 'ERR_EGRESS_PROXY_407'],
  ])('the %s password → %s; no error shows it', async (password, code) => {
    const port = await server(true);
    const proxy = await proxyWith({ credentials: 'operator:right' });
    const { request } = clientOf(`http://operator:${password}@127.0.0.1:${proxy.port}`);
    const outcome = await request.get(`https://${HOST}:${port}/`, LIMITS).catch((error: OutboundError) => error);
    expect(outcome instanceof OutboundError ? (outcome.cause as EgressProxyError).code : undefined).toBe(code);
    if (outcome instanceof OutboundError) expect(`${outcome.stack} ${String(outcome.cause)}`).not.toContain(password);
  });

  it('no proxy at the address → unreachable, naming the proxy but no address', async () => {
    const proxy = await proxyWith();
    await proxy.close();
    const { request } = clientOf(`http://127.0.0.1:${proxy.port}`);
    const error = await failure(request.get(`https://${HOST}/`, LIMITS));
    expect([error.reason, String(error.cause)]).toEqual([
      'unreachable',
      'EgressProxyError: the egress proxy cannot be reached: ECONNREFUSED',
    ]);
  });

  it('a proxy that never answers → the connect timeout ends the call and its connection', async () => {
    const proxy = await proxyWith();
    proxy.behave('silent');
    const { request } = clientOf(`http://127.0.0.1:${proxy.port}`, { connectTimeoutMs: 200 });
    const error = await failure(request.get(`https://${HOST}/`, { ...LIMITS, timeoutMs: 10_000 }));
    expect([error.reason, (error.cause as EgressProxyError).code]).toEqual(['timeout', 'ERR_EGRESS_PROXY_TIMEOUT']);
  });
});
