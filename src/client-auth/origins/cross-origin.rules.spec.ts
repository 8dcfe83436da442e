import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, describe, expect, it } from '@jest/globals';
import { rawServerConfig } from '../../../test/support/apps/app-configs.js';
import { toAppSnapshot } from '../../app-directory/app-snapshot.js';
import { parseAppConfig } from '../../app-directory/config/app-config.js';
import {
  appIdOf,
  callHeaders,
  completeRelayedHead,
  isPreflight,
  originsOf,
  preflightHeaders,
} from './cross-origin.rules.js';

const ORIGIN = 'https://app.example.com';
const ALLOWED = new Set([ORIGIN, 'http://localhost:5173', 'capacitor://localhost']);
/** Texts that are not an allowed origin. */
const FOREIGN = [
  ...['null', '*', '', 'https://APP.example.com', 'HTTPS://app.example.com', 'https://app.example.com/'],
  ...['https://app.example.com:443', 'https://app.example.com:8443', 'http://app.example.com', 'https://example.com'],
  ...['https://app.example.com.evil.example', 'https://evil-app.example.com', `${ORIGIN}, ${ORIGIN}`, ` ${ORIGIN}`],
  ...['http://localhost', 'http://localhost:5174', 'capacitor://localhost:80', 'ionic://localhost', 'constructor'],
];

describe('the application of a request', () => {
  it.each([
    ['/v1/apps/my-app-abc/me', 'my-app-abc'],
    ['/v1/apps/my-app-abc/proxy/openai/v1/models?a=/b', 'my-app-abc'],
    ['/v1/apps/my-app-abc/endpoints/answer#x', 'my-app-abc'],
    ['/v1/apps/my-app-abc/nothing', 'my-app-abc'],
    ['/v1/apps/my-app-abc', undefined],
    ['/v1/apps/?a=/me', undefined],
    ['/v1/apps/a?/me', undefined],
    ['/v1/admin/apps/my-app-abc/keys', undefined],
    ['//v1/apps/my-app-abc/me', undefined],
    ['*', undefined],
    [undefined, undefined],
  ])('%s → %s', (url, app) => expect(appIdOf(url)).toBe(app));

  it('its origins → none if it is unknown, cannot be read, or lists none', () => {
    const appOf = (more: object) => {
      const config = parseAppConfig({ ...rawServerConfig(), ...more });
      return toAppSnapshot({ id: 'a', organizationId: 'o', status: 'active' }, { config, configError: null });
    };
    expect(originsOf(appOf({ allowed_origins: [ORIGIN] }))).toEqual(new Set([ORIGIN]));
    expect(originsOf(appOf({ allowed_origins: [] }))).toBeUndefined();
    expect(originsOf(appOf({}))).toBeUndefined();
    expect(originsOf({ id: 'a', organizationId: 'o', status: 'active', configError: 'broken' })).toBeUndefined();
    expect(originsOf(undefined)).toBeUndefined();
  });
});

describe('preflights', () => {
  it('only OPTIONS that requests the method of a call is a preflight', () => {
    const asks = { 'access-control-request-method': 'POST' };
    expect(isPreflight({ method: 'OPTIONS', headers: asks })).toBe(true);
    expect(isPreflight({ method: 'OPTIONS', headers: {} })).toBe(false);
    expect(isPreflight({ method: 'POST', headers: asks })).toBe(false);
  });

  it('an allowed origin → that origin, the methods of paths, the requested headers, no credentials', () => {
    expect(preflightHeaders(ALLOWED, ORIGIN, 'authorization,content-type, x-stainless-os')).toEqual({
      vary: 'Origin',
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers': 'authorization,content-type, x-stainless-os',
      'access-control-max-age': '7200',
    });
  });

  it.each(FOREIGN)('the origin "%s" → 403, as for an application without a list', (origin) => {
    const refusal = expect.objectContaining({
      code: 'forbidden',
      reason: 'page_not_allowed',
      headers: { vary: 'Origin' },
    });
    expect(() => preflightHeaders(ALLOWED, origin, undefined)).toThrow(refusal);
    expect(() => preflightHeaders(undefined, ORIGIN, undefined)).toThrow(refusal);
  });

  it.each([
    ...[undefined, '', ' ', ',', 'a,,b', 'a,', 'a b', 'a:b', 'a\u0000', 'é', '"a"', 'a;b', 'a'.repeat(4_097)],
    `a${' '.repeat(4_000)}b`,
  ])('requested headers %j, which are not a list of names → none allowed', (requested) => {
    expect(preflightHeaders(ALLOWED, ORIGIN, requested)).not.toHaveProperty('access-control-allow-headers');
  });
});

describe('answers', () => {
  it('an allowed origin → that origin and the exposed headers', () => {
    expect(callHeaders(ALLOWED, ORIGIN)).toEqual({
      vary: 'Origin',
      'access-control-allow-origin': ORIGIN,
      'access-control-expose-headers': 'retry-after, server-timing',
    });
  });

  it.each([undefined, ...FOREIGN])('the origin "%s" → only says that the answer depends on it', (origin) => {
    expect(callHeaders(ALLOWED, origin)).toEqual({ vary: 'Origin' });
  });

  const servers: Server[] = [];

  afterAll(() => {
    for (const server of servers) server.close();
  });

  /** The relayed head for the client after these headers were set. */
  async function relayed(set: Record<string, string>, headers: string[]): Promise<IncomingMessage> {
    const server = createServer((_request, response) => {
      for (const [name, value] of Object.entries(set)) response.setHeader(name, value);
      completeRelayedHead(response, headers);
      response.writeHead(200, headers).end();
    });
    servers.push(server);
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const { port } = server.address() as AddressInfo;
    return new Promise((resolve) => request({ port, host: '127.0.0.1', agent: false }, resolve).end());
  }

  const UPSTREAM = ['vary', 'Accept', 'x-request-id', 'r1', 'link', '<a>', 'link', '<b>', 'retry-after', '7'];

  it('relayed to an allowed page → the provider’s `Vary` is kept and each of its headers is exposed', async () => {
    const { headers } = await relayed({ ...callHeaders(ALLOWED, ORIGIN) } as Record<string, string>, [...UPSTREAM]);
    expect(headers).toMatchObject({
      vary: 'Accept, Origin',
      'access-control-allow-origin': ORIGIN,
      'access-control-expose-headers': 'vary, x-request-id, link, retry-after',
    });
  });

  it('relayed to another page → `Vary` alone; without allowed origins → unchanged', async () => {
    const foreign = await relayed({ vary: 'Origin' }, [...UPSTREAM]);
    expect(foreign.headers.vary).toBe('Accept, Origin');
    expect(Object.keys(foreign.headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    const plain = [...UPSTREAM];
    const { headers } = await relayed({}, plain);
    expect([headers.vary, plain]).toEqual(['Accept', UPSTREAM]);
  });
});
