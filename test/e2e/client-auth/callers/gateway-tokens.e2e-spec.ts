import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { rawIssuer } from '../../../support/apps/app-configs.js';
import { forgeToken, issueToken, TOKEN_APPS } from '../../../support/client-auth/exchange/caller-tokens.js';
import { type Answer, ProxyClient, refusalOf } from '../../../support/proxy/proxy-client.js';
import { startWorld, type World } from '../../../support/world.js';

const BODY = {
  openai: ['v1/responses', { model: 'gpt-4.1' }],
  anthropic: ['v1/messages', { model: 'claude-sonnet-5', max_tokens: 5 }],
  gemini: ['v1beta/models/gemini-2.5-flash:generateContent', { contents: [] }],
} as const;
type Type = keyof typeof BODY;

const VERSION = ['X-App-Version', '1.4.2'];
const BACKEND = 'users of an issuer behind a backend';

let world: World;
/** Installations of one mobile application, through a provider of each type. */
let clients: Record<Type, ProxyClient>;
let backend: ProxyClient;
/** A valid token of a user of `clients`. */
let token: string;

beforeAll(async () => {
  world = await startWorld();
  const openai = await ProxyClient.create(world, { authentication: TOKEN_APPS.installations });
  const [anthropic, gemini] = [
    await world.provider({ type: 'anthropic', slug: 'claude' }),
    await world.provider({ type: 'gemini', slug: 'gemini' }),
  ];
  clients = { openai, anthropic: openai.at(anthropic.slug), gemini: openai.at(gemini.slug) };
  backend = await ProxyClient.create(world, { authentication: TOKEN_APPS[BACKEND] });
  token = await issueToken(world, { appId: openai.appId, userId: 'user-1', authMethod: 'attest' });
});

beforeEach(() => {
  world.logs.length = 0;
  world.upstream.forget();
});

afterAll(() => world.stop());

/** Calls with these headers as the only credentials; `<token>` stands for the token. */
function callWith(credential: readonly string[], { type = 'openai' as Type, headers = VERSION } = {}): Promise<Answer> {
  const [path, body] = BODY[type];
  const sent = credential.map((text) => text.replace('<token>', token));
  return clients[type].call(path, { body, headers, credential: sent });
}

const bearer = (credential: string) => ['authorization', `Bearer ${credential}`];

const nowSeconds = () => Math.floor(Date.now() / 1000);

/** The times of a token issued this many seconds from now. */
const issuedIn = (seconds: number) => ({ iat: nowSeconds() + seconds, exp: nowSeconds() + seconds + 3_600 });

async function keyOf(appId: string, name = 'Backend'): Promise<{ id: string; key: string }> {
  return (await world.api.post(`/v1/admin/apps/${appId}/keys`, { name })).body;
}

function callBackend(credential: string, client = backend): Promise<Answer> {
  return client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers: VERSION, credential: bearer(credential) });
}

async function expectRefused(answer: Promise<Answer>, reason: string, status = 401): Promise<void> {
  expect(refusalOf(await answer)).toEqual([status, status === 401 ? 'auth_required' : 'invalid_request']);
  expect(world.upstream.requests).toHaveLength(0);
  expect(world.logs.filter((line) => line.message === 'gateway_error')).toMatchObject([{ reason }]);
}

describe('the applications that accept tokens', () => {
  it.each(Object.entries(TOKEN_APPS))(
    'a token of %s → served; the event names the user',
    async (_name, authentication) => {
      const client = await ProxyClient.create(world, { authentication });
      const key = authentication.type === 'api_key' ? await keyOf(client.appId) : undefined;
      const authMethod = key === undefined ? 'attest' : 'api_key';
      const holder = { appId: client.appId, userId: 'user|7', authMethod, apiKeyId: key?.id } as const;
      expect((await callBackend(await issueToken(world, holder), client)).status).toBe(200);
      expect(await client.events()).toMatchObject([
        { user_id: 'user|7', auth_method: authMethod, app_version: '1.4.2', status: 'ok' },
      ]);
      const [stored] = await world.dataSource.query('SELECT api_key_id FROM usage_events WHERE app_id = $1', [
        client.appId,
      ]);
      expect(stored).toEqual({ api_key_id: key?.id ?? null });
    },
  );

  it.each(Object.entries(TOKEN_APPS))(
    'an application key for %s → 401 that says what to do',
    async (_name, authentication) => {
      const client = await ProxyClient.create(world, { authentication });
      const { key } = await world.app();
      const answer = callBackend(key, client);
      await expectRefused(answer, 'gateway_token_required');
      expect((await answer).body.toString()).toContain('exchange');
    },
  );

  it.each([
    ['no users', { type: 'api_key' }],
    ['users its backend names', { type: 'api_key', end_user: { source: 'header' } }],
  ])('a token for an application with %s → 401: it accepts only its key', async (_name, authentication) => {
    const client = await ProxyClient.create(world, { authentication });
    const mine = forgeToken({ app: client.appId, auth_method: 'api_key' });
    const headers = [...VERSION, 'x-end-user-id', 'user-1'];
    const answer = client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers, credential: bearer(mine) });
    await expectRefused(answer, 'app_key_invalid');
  });
});

describe('tokens that are refused', () => {
  const mine = (claims: object = {}) => ({ app: clients.openai.appId, ...claims });

  it('a hand-made token signed with our secret → served, so that the next ones fail for their own reason', async () => {
    expect((await callWith(bearer(forgeToken(mine())))).status).toBe(200);
  });

  it.each<[string, () => string, string]>([
    ['of another application', () => forgeToken({ app: backend.appId }), 'token_of_other_app'],
    ['of no application', () => forgeToken({}), 'token_invalid'],
    ['for another way to authenticate', () => forgeToken(mine({ auth_method: 'api_key' })), 'token_of_other_method'],
    ['without a user', () => forgeToken(mine({ sub: '' })), 'token_invalid'],
    ['that has expired', () => forgeToken(mine({ exp: 1_790_000_000 })), 'token_expired'],
    ['that never expires', () => forgeToken(mine({ exp: undefined })), 'token_invalid'],
    ['of a clock a year ahead', () => forgeToken(mine(issuedIn(365 * 24 * 3_600))), 'token_of_wrong_clock'],
    ['of a clock two minutes ahead', () => forgeToken(mine(issuedIn(120))), 'token_of_wrong_clock'],
    ['good for two hours', () => forgeToken(mine({ exp: nowSeconds() + 7_200 })), 'token_of_wrong_clock'],
    [
      'that expires as it is issued',
      () => forgeToken(mine({ iat: nowSeconds() + 9, exp: nowSeconds() + 9 })),
      'token_invalid',
    ],
    ['of another secret', () => forgeToken(mine(), { secret: 'somebody-elses-secret-of-32-bytes!' }), 'token_invalid'],
    ['with alg none', () => forgeToken(mine(), { header: { alg: 'none' } }), 'token_invalid'],
    ['of another type', () => forgeToken(mine(), { header: { typ: 'at+jwt' } }), 'token_invalid'],
    ['with an unknown critical member', () => forgeToken(mine(), { header: { crit: ['x'], x: 1 } }), 'token_invalid'],
    [
      'that names a key that does not exist',
      () => forgeToken(mine({ api_key_id: `key_${'0'.repeat(20)}` })),
      'token_key_invalid',
    ],
    ['that names nonsense for a key', () => forgeToken(mine({ api_key_id: "' OR true" })), 'token_key_invalid'],
    ['that is none', () => 'nonsense', 'token_invalid'],
    ['that is a management key', () => world.managementKey, 'token_invalid'],
    ['with another last letter', () => `${token.slice(0, -1)}${token.endsWith('A') ? 'E' : 'A'}`, 'token_invalid'],
    ['cut short', () => token.slice(0, -1), 'token_invalid'],
  ])('a token %s → 401, nothing is sent upstream, and one log line', async (_name, text, reason) => {
    await expectRefused(callWith(bearer(text())), reason);
  });

  it('an application that has changed its authentication → its old tokens are refused at once', async () => {
    const client = await ProxyClient.create(world, { authentication: TOKEN_APPS['users of an issuer on devices'] });
    const old = await issueToken(world, { appId: client.appId, userId: 'user-1', authMethod: 'attest' });
    expect((await callBackend(old, client)).status).toBe(200);
    world.upstream.forget();
    const { name, config, revision } = (await world.api.get(`/v1/admin/apps/${client.appId}`)).body.app;
    const replaced = { name, config: { ...config, authentication: TOKEN_APPS[BACKEND] }, revision };
    expect((await world.api.put(`/v1/admin/apps/${client.appId}`, replaced)).status).toBe(200);
    await expectRefused(callBackend(old, client), 'token_of_other_method');
  });
});

describe('where the token is sent', () => {
  it.each<[string, Type, string[]]>([
    ['Authorization: Bearer', 'openai', ['Authorization', 'Bearer <token>']],
    ['Authorization without a scheme', 'openai', ['Authorization', '<token>']],
    ['x-api-key for an Anthropic-type provider', 'anthropic', ['x-api-key', '<token>']],
    ['x-goog-api-key for a Gemini-type provider', 'gemini', ['x-goog-api-key', '<token>']],
    ['an empty Authorization, then x-api-key', 'anthropic', ['authorization', '', 'x-api-key', 'bearer <token>']],
  ])('%s → served, and the token is not sent on', async (_name, type, credential) => {
    expect((await callWith(credential, { type })).status).toBe(200);
    expect(JSON.stringify(world.upstream.requests)).not.toContain(token.slice(-43));
  });

  it.each<[string, Type, string[], string]>([
    ['x-api-key for an OpenAI-type provider', 'openai', ['x-api-key', '<token>'], 'credential_missing'],
    ['a token header nobody configured', 'openai', ['x-gateway-token', '<token>'], 'credential_missing'],
    [
      'a bad Authorization before a good x-api-key',
      'anthropic',
      ['authorization', 'x', 'x-api-key', '<token>'],
      'token_invalid',
    ],
    ['the token twice in one header', 'openai', ['authorization', 'Bearer <token>, <token>'], 'token_invalid'],
  ])('%s → 401', async (_name, type, credential, reason) => {
    await expectRefused(callWith(credential, { type }), reason);
  });

  it('the token header of the application → read after the others, and stripped wherever the token was sent', async () => {
    const end_user = { source: 'issuer', issuer: { ...rawIssuer(), token_header: 'X-Stainless-Token' } };
    const client = await ProxyClient.create(world, { authentication: { ...TOKEN_APPS[BACKEND], end_user } });
    const mine = forgeToken({ app: client.appId, auth_method: 'api_key' });
    const call = (credential: string[]) =>
      client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers: VERSION, credential });
    expect((await call(['x-stainless-token', `Bearer ${mine}`])).status).toBe(200);
    expect((await call([...bearer(mine), 'x-stainless-token', 'left over'])).status).toBe(200);
    expect(world.upstream.requests).toHaveLength(2);
    for (const request of world.upstream.requests) expect(request.header('x-stainless-token')).toBeUndefined();
    world.upstream.forget();
    await expectRefused(call(['authorization', 'x', 'x-stainless-token', mine]), 'token_invalid');
  });
});

describe('X-App-Version', () => {
  it.each([
    ['absent', []],
    ['empty', ['X-App-Version', '']],
    ['blank', ['X-App-Version', ' \t ']],
  ])('%s beside a token → 400 with this message', async (_name, headers) => {
    const answer = callWith(bearer(token), { headers });
    await expectRefused(answer, 'app_version_missing', 400);
    expect(JSON.parse((await answer).body.toString()).error.message).toBe('X-App-Version header is required');
  });

  it('absent beside a bad token → 401: the credential is checked first', async () => {
    await expectRefused(callWith(bearer('nonsense'), { headers: [] }), 'token_invalid');
  });

  it('absent beside a token whose key is revoked → 401', async () => {
    const text = forgeToken({ app: clients.openai.appId, api_key_id: `key_${'0'.repeat(20)}` });
    await expectRefused(callWith(bearer(text), { headers: [] }), 'token_key_invalid');
  });

  it('absent on a path that is not allowed → 400: the plan is made after', async () => {
    const answer = clients.openai.call('v1/files', { body: {}, credential: bearer(token) });
    await expectRefused(answer, 'app_version_missing', 400);
  });

  it('absent beside an application key → served', async () => {
    const client = await ProxyClient.create(world);
    expect((await client.call('v1/responses', { body: { model: 'gpt-4.1' } })).status).toBe(200);
  });
});
