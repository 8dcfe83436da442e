import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rawIssuer } from '../../support/apps/app-configs.js';
import { ProxyClient, refusalOf } from '../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../support/world.js';

const BODY = {
  openai: ['v1/responses', { model: 'gpt-4.1' }],
  anthropic: ['v1/messages', { model: 'claude-sonnet-5', max_tokens: 5 }],
  gemini: ['v1beta/models/gemini-2.5-flash:generateContent', { contents: [] }],
} as const;
type Type = keyof typeof BODY;

/** The header in which each type's own SDK sends its key, and the value that the provider receives there. */
const UPSTREAM: Record<Type, [name: string, value: string]> = {
  openai: ['authorization', 'Bearer sk-test-provider-secret'],
  anthropic: ['x-api-key', 'sk-test-provider-secret'],
  gemini: ['x-goog-api-key', 'sk-test-provider-secret'],
};
const CREDENTIAL_HEADERS = ['authorization', 'x-api-key', 'x-goog-api-key'];

let world: World;
let clients: Record<Type, ProxyClient>;
let other: ProxyClient;

beforeAll(async () => {
  world = await startWorld();
  clients = {
    openai: await ProxyClient.create(world, { provider: { type: 'openai' } }),
    anthropic: await ProxyClient.create(world, { provider: { type: 'anthropic' } }),
    gemini: await ProxyClient.create(world, { provider: { type: 'gemini' } }),
  };
  other = await ProxyClient.create(world);
});

beforeEach(() => {
  world.logs.length = 0;
  world.upstream.forget();
});

afterAll(() => world.stop());

/** Calls with these headers as the only credentials; `<key>` stands for the application's key. */
function callWith(client: ProxyClient, type: Type, credential: readonly string[], query = '') {
  const [path, body] = BODY[type];
  return client.call(path + query, { body, credential: credential.map((text) => text.replace('<key>', client.key)) });
}

async function expectRefused(
  client: ProxyClient,
  type: Type,
  credential: readonly string[],
  query = '',
): Promise<void> {
  expect(refusalOf(await callWith(client, type, credential, query))).toEqual([401, 'auth_required']);
  expect(world.upstream.requests).toHaveLength(0);
  expect(client.lines('gateway_error')).toHaveLength(1);
}

describe('where the credential is sent', () => {
  it.each<[string, Type, string[]]>([
    ['Authorization: Bearer', 'openai', ['Authorization', 'Bearer <key>']],
    ['Authorization: bearer', 'openai', ['Authorization', 'bearer <key>']],
    ['Authorization: BEARER', 'openai', ['AUTHORIZATION', 'BEARER <key>']],
    ['Authorization without a scheme', 'openai', ['Authorization', '<key>']],
    ['Authorization with blanks around', 'openai', ['Authorization', '  Bearer   <key> \t']],
    ['Authorization for an Anthropic-type provider', 'anthropic', ['Authorization', 'Bearer <key>']],
    ['x-api-key for an Anthropic-type provider', 'anthropic', ['X-Api-Key', '<key>']],
    ['x-api-key with a scheme', 'anthropic', ['x-api-key', 'Bearer <key>']],
    ['x-goog-api-key for a Gemini-type provider', 'gemini', ['X-Goog-Api-Key', '<key>']],
    ['an empty Authorization, then x-api-key', 'anthropic', ['authorization', '', 'x-api-key', '<key>']],
    ['a scheme alone, then x-api-key', 'anthropic', ['authorization', 'Bearer ', 'x-api-key', '<key>']],
    ['a good Authorization before a bad x-api-key', 'anthropic', ['x-api-key', 'bad', 'authorization', 'Bearer <key>']],
  ])('%s → served, and the provider gets only its own key', async (_name, type, credential) => {
    expect((await callWith(clients[type], type, credential)).status).toBe(200);
    const [request] = world.upstream.requests;
    const sent = CREDENTIAL_HEADERS.flatMap((name) =>
      [request?.header(name)].filter(Boolean).map((value) => [name, value]),
    );
    expect(sent).toEqual([UPSTREAM[type]]);
    expect(JSON.stringify(request)).not.toContain(clients[type].key);
  });

  it.each<[string, Type, string[], string?]>([
    ['nothing at all', 'openai', []],
    ['x-api-key for an OpenAI-type provider', 'openai', ['x-api-key', '<key>']],
    ['x-goog-api-key for an OpenAI-type provider', 'openai', ['x-goog-api-key', '<key>']],
    ['x-goog-api-key for an Anthropic-type provider', 'anthropic', ['x-goog-api-key', '<key>']],
    ['x-api-key for a Gemini-type provider', 'gemini', ['x-api-key', '<key>']],
    ['a bad Authorization before a good x-api-key', 'anthropic', ['authorization', 'bad', 'x-api-key', '<key>']],
    ['a query key for a Gemini-type provider', 'gemini', [], '?key=<key>'],
    ['a query api_key', 'openai', [], '?api_key=<key>'],
    ['a query access_token', 'openai', [], '?access_token=<key>'],
    ['a cookie', 'openai', ['cookie', 'authorization=<key>']],
    ['a subprotocol', 'openai', ['sec-websocket-protocol', 'openai-insecure-api-key.<key>']],
    ['another scheme', 'openai', ['authorization', 'Basic <key>']],
    ['the scheme twice', 'openai', ['authorization', 'Bearer Bearer <key>']],
    ['the key with a tail', 'openai', ['authorization', 'Bearer <key>,']],
    ['another prefix before the key', 'openai', ['authorization', 'Bearer GW_<key>']],
    ['a very long credential', 'openai', ['authorization', `Bearer ${'a'.repeat(9000)}`]],
  ])('%s → 401, nothing is sent, one log line', async (_name, type, credential, query = '') => {
    await expectRefused(clients[type], type, credential, query.replace('<key>', clients[type].key));
  });

  it('a key that the client sends in the query → never forwarded, in whatever spelling', async () => {
    await callWith(
      clients.gemini,
      'gemini',
      ['authorization', '<key>'],
      '?alt=sse&key=a&%6bey=b&api_key=c&api%5Fkey=d&k=e',
    );
    expect(world.upstream.requests[0]?.path).toBe('/v1beta/models/gemini-2.5-flash:generateContent?alt=sse&k=e');
  });

  it.each<[string, Type, string[]]>([
    ['Authorization twice, both good', 'openai', ['authorization', 'Bearer <key>', 'Authorization', 'Bearer <key>']],
    ['Authorization twice, one bad', 'openai', ['authorization', 'Bearer <key>', 'authorization', 'Bearer x']],
    ['x-api-key twice', 'anthropic', ['x-api-key', '<key>', 'x-api-key', '<key>']],
    ['x-goog-api-key twice', 'gemini', ['x-goog-api-key', '<key>', 'X-GOOG-API-KEY', '<key>']],
    ['X-App-Version twice', 'openai', ['authorization', '<key>', 'x-app-version', '1', 'x-app-version', '2']],
  ])('%s → 400, nothing is sent', async (_name, type, credential) => {
    expect(refusalOf(await callWith(clients[type], type, credential))).toEqual([400, 'invalid_request']);
    expect(world.upstream.requests).toHaveLength(0);
  });
});

describe('credentials that are refused', () => {
  it('the key of another application of the same account → 401', () =>
    expectRefused(clients.openai, 'openai', ['authorization', `Bearer ${other.key}`]));

  it('a management key → 401', () =>
    expectRefused(clients.openai, 'openai', ['authorization', `Bearer ${world.managementKey}`]));

  it('the provider’s own key → 401', () =>
    expectRefused(clients.openai, 'openai', ['authorization', 'Bearer sk-test-provider-secret']));

  it('a revoked key → 401 from the next call on, while another key of the application still serves', async () => {
    const client = await ProxyClient.create(world);
    const { body } = await world.api.post(`/v1/admin/apps/${client.appId}/keys`, { name: 'second' });
    const second = ['authorization', body.key];
    expect((await callWith(client, 'openai', second)).status).toBe(200);
    await world.api.post(`/v1/admin/apps/${client.appId}/keys/${body.id}/revoke`);
    expect(refusalOf(await callWith(client, 'openai', second))).toEqual([401, 'auth_required']);
    expect((await callWith(client, 'openai', ['authorization', '<key>'])).status).toBe(200);
  });

  it('a disabled application → 403 whatever the credential; active again → served', async () => {
    const client = await ProxyClient.create(world);
    const path = `/v1/admin/apps/${client.appId}`;
    expect((await callWith(client, 'openai', ['authorization', '<key>'])).status).toBe(200);
    const { name, config, revision } = (await world.api.get(path)).body.app;
    await world.api.put(path, { name, config, revision, status: 'disabled' });
    for (const credential of [['authorization', '<key>'], []])
      expect(refusalOf(await callWith(client, 'openai', credential))).toEqual([403, 'app_disabled']);
    await world.api.put(path, { name, config, revision: revision + 1, status: 'active' });
    expect((await callWith(client, 'openai', ['authorization', '<key>'])).status).toBe(200);
  });

  it('a deleted application → 404', async () => {
    const client = await ProxyClient.create(world);
    await callWith(client, 'openai', ['authorization', '<key>']);
    await world.api.delete(`/v1/admin/apps/${client.appId}?confirm=${client.appId}`);
    expect(refusalOf(await callWith(client, 'openai', ['authorization', '<key>']))).toEqual([404, 'app_not_found']);
  });

  it('a bare key for an application with an issuer, also in its token header → 401', async () => {
    const client = await ProxyClient.create(world, {
      authentication: { type: 'api_key', end_user: { source: 'issuer', issuer: rawIssuer() } },
    });
    await expectRefused(client, 'openai', ['authorization', 'Bearer <key>']);
    world.logs.length = 0;
    await expectRefused(client, 'openai', ['x-gateway-token', '<key>']);
  });
});

describe('header identity', () => {
  const withHeader = (header?: string) => ({
    authentication: { type: 'api_key', end_user: { source: 'header', ...(header && { header }) } },
  });
  const call = (client: ProxyClient, headers: readonly string[]) =>
    client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers });

  it.each([
    ['the default name', undefined, ['X-End-User-ID', 'user-1'], 'user-1'],
    ['a name of the application, in other case', 'X-Customer', ['x-CUSTOMER', 'a@b.c/~!'], 'a@b.c/~!'],
    ['128 characters', undefined, ['x-end-user-id', 'u'.repeat(128)], 'u'.repeat(128)],
  ])('%s → the event names the user, and the header is not forwarded', async (_name, header, headers, user) => {
    const client = await ProxyClient.create(world, withHeader(header));
    expect((await call(client, headers)).status).toBe(200);
    expect(await client.events()).toMatchObject([{ user_id: user, auth_method: 'api_key' }]);
    expect(JSON.stringify(world.upstream.requests[0]?.rawHeaders)).not.toContain(user);
  });

  it.each([
    ['no header', []],
    ['another header', ['x-customer', 'user']],
    ['an empty value', ['x-end-user-id', '']],
    ['a blank inside', ['x-end-user-id', 'a b']],
    ['129 characters', ['x-end-user-id', 'u'.repeat(129)]],
    ['a letter beyond ASCII', ['x-end-user-id', 'é']],
    ['a tab inside', ['x-end-user-id', 'a\tb']],
    ['the header twice', ['x-end-user-id', 'a', 'x-end-user-id', 'b']],
  ])('%s → 400, nothing is sent', async (_name, headers) => {
    const client = await ProxyClient.create(world, withHeader());
    expect(refusalOf(await call(client, headers))).toEqual([400, 'invalid_request']);
    expect(world.upstream.requests).toHaveLength(0);
  });

  it('the default header on an application without users → not forwarded, and the event has no user', async () => {
    const client = await ProxyClient.create(world);
    expect((await call(client, ['x-end-user-id', 'sneaked-in'])).status).toBe(200);
    expect(await client.events()).toMatchObject([{ user_id: null }]);
    expect(JSON.stringify(world.upstream.requests[0]?.rawHeaders)).not.toContain('sneaked-in');
  });

  it('an allowlisted header as the name → its value names the user and is not forwarded', async () => {
    const client = await ProxyClient.create(world, withHeader('x-stainless-user'));
    expect((await call(client, ['x-stainless-user', 'user-7'])).status).toBe(200);
    expect(await client.events()).toMatchObject([{ user_id: 'user-7' }]);
    expect(JSON.stringify(world.upstream.requests[0]?.rawHeaders)).not.toContain('user-7');
  });
});
