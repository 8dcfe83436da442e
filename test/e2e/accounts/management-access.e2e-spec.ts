import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { listRouteAccess } from '../../../src/common/http/access.js';
import { firstOrganizationId, newMember } from '../../support/accounts/accounts.js';
import { newManagementKey, startWorld, type World } from '../../support/world.js';

const PLAIN = 'Bearer realm="management"';
const INVALID = 'Bearer realm="management", error="invalid_token"';
const PATH = '/v1/admin/prices';
const MIB = 1024 * 1024;

let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld();
  organizationId = await firstOrganizationId(world.dataSource);
});

beforeEach(() => {
  world.logs.length = 0;
});

afterAll(() => world.stop());

function get(headers: Record<string, string>): Promise<Response> {
  return fetch(world.baseUrl + PATH, { headers });
}

/** Sends header lines unchanged, repeated ones included, and returns the status. */
function rawStatus(headers: readonly string[]): Promise<number | undefined> {
  const { hostname, port, host } = new URL(world.baseUrl);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path: PATH, headers: ['host', host, ...headers] }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

describe('management credential', () => {
  it.each([
    ['nothing', {}, PLAIN],
    ['another scheme', { authorization: 'Basic Z3c6Z3c=' }, PLAIN],
    ['an application key', { authorization: `Bearer gw_${'a'.repeat(48)}` }, INVALID],
    ['a connection token', { authorization: `Bearer gw_oat_${'a'.repeat(48)}` }, INVALID],
    ['a key nobody has', { authorization: `Bearer ${newManagementKey()}` }, INVALID],
    ['a cookie without a session', { cookie: 'gw_identity_auth.session_token=x', 'x-console-request': '1' }, PLAIN],
  ])('%s → 401 auth_required, and the challenge names the kind', async (_name, headers, challenge) => {
    const answer = await get(headers);
    expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, challenge]);
    expect(await answer.json()).toEqual({
      error: { code: 'auth_required', message: 'A valid credential is required.' },
    });
  });

  it.each(['Bearer', 'bearer', 'BEARER'])('scheme written %s → accepted', async (scheme) => {
    expect((await get({ authorization: `${scheme} ${world.managementKey}` })).status).toBe(200);
  });

  it('the header twice → refused, whichever of them is valid', async () => {
    const good = `Bearer ${world.managementKey}`;
    expect(await rawStatus(['authorization', good])).toBe(200);
    expect(await rawStatus(['authorization', good, 'authorization', 'Bearer x'])).toBe(400);
    expect(await rawStatus(['Authorization', 'Bearer x', 'AUTHORIZATION', good])).toBe(400);
  });

  it('revoked between two requests → the second is refused', async () => {
    const { key } = await newMember(world.dataSource, organizationId, {});
    expect((await world.as(key).get(PATH)).status).toBe(200);
    await world.dataSource.query('UPDATE management_keys SET revoked_at = now() WHERE token_hint = $1', [
      key.slice(-4),
    ]);
    expect((await world.as(key).get(PATH)).status).toBe(401);
  });

  it('a refusal → one gateway_error line with the reason and without the credential', async () => {
    const key = newManagementKey();
    await get({ authorization: `Bearer ${key}`, 'x-app-version': '1.2.3' });
    expect(world.logs).toEqual([
      {
        level: 'warn',
        message: 'gateway_error',
        timestamp: expect.any(String),
        code: 'auth_required',
        reason: 'management_key_unknown',
        status: 401,
        path: PATH,
        method: 'GET',
        appVersion: '1.2.3',
      },
    ]);
    expect(JSON.stringify(world.logs)).not.toContain(key);
  });
});

describe('every management route', () => {
  it('without a credential → 401 with the challenge', async () => {
    const routes = listRouteAccess(world.gateway.app).filter(({ access }) => access.scheme === 'management');
    expect(routes.length).toBeGreaterThan(0);
    for (const { route, access } of routes) {
      const [method = '', path = ''] = route.split(' ');
      const client = access.exactOrigin ? world.with({ origin: world.consoleOrigin }) : world.as(undefined);
      const answer = await client.send(method, path.replaceAll(/:\w+/g, 'nobody'), undefined, {});
      expect([route, answer.status, answer.body.error.code]).toEqual([route, 401, 'auth_required']);
      expect(answer.headers.get('www-authenticate')).toBe(PLAIN);
    }
  });
});

describe('management requests', () => {
  it.each([
    ['an unknown path', 'GET', '/v1/admin/nothing'],
    ['a known path with another method', 'PATCH', PATH],
    ['a known path with a method that wants a content type', 'QUERY', PATH],
    ['a path in other case', 'GET', '/V1/admin/prices'],
    ['a trailing slash', 'GET', `${PATH}/`],
    ['a doubled slash', 'GET', '/v1//admin/prices'],
  ])('%s → 404 invalid_request "Route not found"', async (_name, method, path) => {
    const answer = await world.api.send(method, path, undefined, {});
    expect([answer.status, answer.body]).toEqual([
      404,
      { error: { code: 'invalid_request', message: 'Route not found' } },
    ]);
  });

  it.each([
    ['broken JSON', '{"name":', 'body: is not valid JSON'],
    ['nothing', '', 'body: must be a JSON object'],
    ['an array', '[]', 'body: must be a JSON object'],
    ['null', 'null', 'body: must be a JSON object'],
    ['a member twice', '{"name":"a","name":"b"}', 'name: is given twice'],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'body: is not valid UTF-8'],
  ])('body is %s → 400, but 401 without a credential', async (_name, raw, message) => {
    const answer = await world.api.post('/v1/admin/providers', undefined, { raw });
    expect([answer.status, answer.body]).toEqual([400, { error: { code: 'invalid_request', message } }]);
    expect((await world.as(undefined).post('/v1/admin/providers', undefined, { raw })).status).toBe(401);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    'Content-Type %s → 400, even when the body is JSON',
    async (type) => {
      const headers = { 'content-type': type };
      const answer = await world.api.post('/v1/admin/providers', undefined, { raw: '{}', headers });
      expect([answer.status, answer.body.error.message]).toEqual([400, 'Content-Type: must be application/json']);
    },
  );

  it.each(['', 'json', '///', 'a/b/c', ' ; charset=utf-8'])(
    'Content-Type "%s" → checked after route and credential, like every body',
    async (type) => {
      const request = { raw: '{}', headers: { 'content-type': type } };
      const answer = await world.api.post('/v1/admin/providers', undefined, request);
      expect([answer.status, answer.body.error.message]).toEqual([400, 'Content-Type: must be application/json']);
      expect((await world.as(undefined).post('/v1/admin/providers', undefined, request)).status).toBe(401);
      expect((await world.api.post('/v1/admin/nothing', undefined, request)).status).toBe(404);
    },
  );

  it.each([
    ['declared', new Uint8Array(MIB + 1)],
    ['streamed', streamOf(MIB + 1)],
  ])('a body over 1 MiB, its size %s → 413 payload_too_large', async (_name, body) => {
    const headers = { authorization: `Bearer ${world.managementKey}`, 'content-type': 'application/json' };
    const answer = await fetch(`${world.baseUrl}/v1/admin/providers`, {
      ...{ method: 'POST', headers, body, duplex: 'half' },
    });
    expect([answer.status, await answer.json()]).toMatchObject([413, { error: { code: 'payload_too_large' } }]);
  });

  it('prices → USD per model of each provider type, custom prices separately', async () => {
    const { prices } = (await world.api.get(PATH)).body;
    expect(prices.openai['gpt-4.1']).toMatchObject({ input: 2, output: 8 });
    expect(prices.openai['whisper-1']).toEqual({ per_minute: 0.006 });
    expect(Object.keys(prices)).not.toEqual(expect.arrayContaining(['openrouter']));
  });
});

function streamOf(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(new Uint8Array(Math.min(left, 64 * 1024)));
      left -= 64 * 1024;
    },
  });
}
