import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { exchangeBytes } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(() => {
  world.logs.length = 0;
});

afterAll(() => world.stop());

/** The two entry points of a request: the framework's, and the proxy's own. */
const TARGETS = [
  'GET /v1/admin/prices',
  'POST /v1/admin/apps',
  'POST /v1/apps/a/auth/token',
  'POST /v1/apps/a/proxy/b/v1/responses',
  'POST /v1/apps/a/endpoints/b',
];
const HEADS = [
  ['no host', '', 400, 'host_missing'],
  ['a host that is none', 'Host: a/b\r\n', 400, 'host_malformed'],
  ['an expectation nobody meets', 'Host: a\r\nExpect: tea\r\nContent-Length: 2\r\n', 417, 'expectation_unsupported'],
  [
    'a coded body',
    'Host: a\r\nContent-Encoding: compress\r\nContent-Length: 2\r\nConnection: close\r\n',
    415,
    'content_coding_unsupported',
  ],
  [
    'a coding that is sent twice',
    'Host: a\r\nContent-Encoding: identity\r\nContent-Encoding: identity\r\nConnection: close\r\n',
    415,
    'content_coding_unsupported',
  ],
  [
    'a coding beside chunks',
    'Host: a\r\nTransfer-Encoding: gzip, chunked\r\nConnection: close\r\n',
    400,
    'transfer_coding_unsupported',
  ],
] as const;

describe('a request with an ambiguous head', () => {
  it.each(TARGETS.flatMap((target) => HEADS.map((head) => [target, ...head] as const)))(
    '%s with %s → refused with an error envelope, one log line',
    async (target, _name, lines, status, reason) => {
      const [method = '', path = ''] = target.split(' ');
      const bytes = `${target} HTTP/1.1\r\n${lines}Content-Type: application/json\r\n\r\n`;
      const answer = await exchangeBytes(world, bytes);
      expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect(JSON.parse(/\{.*\}/.exec(answer)?.[0] ?? '{}').error?.code).toBe('invalid_request');
      expect(world.logs).toEqual([
        expect.objectContaining({ message: 'gateway_error', code: 'invalid_request', reason, status, path, method }),
      ]);
    },
  );

  it.each([
    ['/v1/apps/a/proxy/b/v1/responses', 404, 'app_not_found'],
    ['/v1/apps/a/endpoints/b', 404, 'invalid_request'],
    ['/v1/admin/prices', 404, 'invalid_request'],
    ['example.com:443', 404, 'invalid_request'],
  ])('CONNECT %s → refused as any other method, and closed', async (target, status, code) => {
    const answer = await exchangeBytes(world, `CONNECT ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(JSON.parse(/\{.*\}/.exec(answer)?.[0] ?? '{}').error?.code).toBe(code);
    expect(world.logs).toHaveLength(1);
  });

  it('HTTP/1.0 without a host → answered', async () => {
    expect(await exchangeBytes(world, 'GET /v1/healthz HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });
});
