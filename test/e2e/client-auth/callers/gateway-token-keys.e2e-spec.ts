import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import pg from 'pg';
import { AppKeyUses } from '../../../../src/app-keys/app-key-uses.js';
import { CallerAuthentication } from '../../../../src/client-auth/callers/caller-authentication.service.js';
import { ConfigChanges } from '../../../../src/platform/database/config-changes.js';
import { forgeToken, issueToken, TOKEN_APPS } from '../../../support/client-auth/exchange/caller-tokens.js';
import { eventually } from '../../../support/eventually.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../../support/platform/redis.js';
import { type Answer, ProxyClient, refusalOf } from '../../../support/proxy/proxy-client.js';
import { startWorld, TEST_JWT_SECRET, type World } from '../../../support/world.js';

let redis: Pick<TestRedis, 'url' | 'stop'>;
let world: World;
/** A backend that exchanges its key for the tokens of its users. */
let backend: ProxyClient;

beforeAll(async () => {
  redis = await reachRedis();
  world = await startWorld({ env: { REDIS_URL: redis.url } });
  backend = await ProxyClient.create(world, { authentication: TOKEN_APPS['users of an issuer behind a backend'] });
});

beforeEach(() => {
  world.logs.length = 0;
  world.upstream.forget();
});

afterAll(async () => {
  await world.stop();
  await redis.stop();
});

const keysOf = (appId: string) => `/v1/admin/apps/${appId}/keys`;

async function newKey(): Promise<{ id: string; key: string }> {
  return (await world.api.post(keysOf(backend.appId), { name: 'Backend' })).body;
}

function tokenOfKey(apiKeyId: string): Promise<string> {
  return issueToken(world, { appId: backend.appId, userId: 'user-1', authMethod: 'api_key', apiKeyId });
}

function callBackend(token: string): Promise<Answer> {
  return backend.call('v1/responses', {
    body: { model: 'gpt-4.1' },
    headers: ['X-App-Version', '1.4.2'],
    credential: ['authorization', `Bearer ${token}`],
  });
}

async function expectRefused(answer: Promise<Answer>): Promise<void> {
  expect(refusalOf(await answer)).toEqual([401, 'auth_required']);
  expect(world.upstream.requests).toHaveLength(0);
  expect(backend.lines('gateway_error')).toMatchObject([{ reason: 'token_key_invalid' }]);
}

describe('the key behind an exchanged token', () => {
  it('revoked → its tokens are refused at once, those of another key are not', async () => {
    const [one, other] = [await newKey(), await newKey()];
    const [ofOne, ofOther] = [await tokenOfKey(one.id), await tokenOfKey(other.id)];
    for (const text of [ofOne, ofOther]) expect((await callBackend(text)).status).toBe(200);
    await world.api.post(`${keysOf(backend.appId)}/${one.id}/revoke`);
    world.upstream.forget();
    await expectRefused(callBackend(ofOne));
    expect((await callBackend(ofOther)).status).toBe(200);
  });

  it('of another application of the account → 401', async () => {
    const foreign = await world.app();
    const { body } = await world.api.get(keysOf(foreign.id));
    await expectRefused(callBackend(await tokenOfKey(body.keys[0].id)));
  });

  it('used through its token → last_used_at is written', async () => {
    const { id } = await newKey();
    expect((await callBackend(await tokenOfKey(id))).status).toBe(200);
    await world.gateway.app.get(AppKeyUses, { strict: false }).flush();
    const { keys } = (await world.api.get(keysOf(backend.appId))).body;
    expect(keys.find((key: { id: string }) => key.id === id).last_used_at).toEqual(expect.any(String));
  });
});

describe('a warm call', () => {
  it('a token verified before → authenticated, without a database query before the call', async () => {
    const mine = await tokenOfKey((await newKey()).id);
    expect((await callBackend(mine)).status).toBe(200);
    const headers = { authorization: `Bearer ${mine}`, 'x-app-version': '1' };
    const raw = Object.assign(new IncomingMessage(new Socket()), { headers });
    const request = { raw, headers, method: 'POST' };
    const address = { appId: backend.appId, providerSlug: backend.slug };
    const authentication = world.gateway.app.get(CallerAuthentication, { strict: false });
    const caller = await authentication.authenticate(request, address);
    expect(caller).toMatchObject({ userId: 'user-1', authMethod: 'api_key' });

    const cold = await tokenOfKey((await newKey()).id);
    const query = jest.spyOn(pg.Client.prototype, 'query');
    const asked = () =>
      query.mock.calls
        .map(([statement]) => String(statement))
        // Background queries, independent of calls: the agreement of instances and due events.
        .filter((text) => /^\s*SELECT\b.*\bFROM\b/is.test(text) && !/\bFROM (?:limit_epoch|webhooks)\b/.test(text));
    try {
      for (let call = 0; call < 20; call++) expect((await callBackend(mine)).status).toBe(200);
      expect(asked()).toEqual([]);
      expect((await callBackend(cold)).status).toBe(200);
      expect(asked()).toEqual([expect.stringContaining('FROM "app_keys"')]);
    } finally {
      query.mockRestore();
    }
  });
});

describeWithRedis('a second instance', () => {
  let second: FurtherInstance;

  beforeAll(async () => {
    const env = { JWT_SECRET: 'a-new-secret-that-replaces-the-old-one', JWT_SECRET_PREVIOUS: TEST_JWT_SECRET };
    second = await startFurtherInstance(world, world.databaseUrl, { env });
    await eventually(() => second.gateway.app.get(ConfigChanges).connected, { withinMs: 10_000 });
  });

  afterAll(() => second.stop());

  /** The status of a call there. */
  async function callThere(credential: string): Promise<number> {
    const url = `${second.baseUrl}/v1/apps/${backend.appId}/proxy/${backend.slug}/v1/responses`;
    const headers = { authorization: `Bearer ${credential}`, 'x-app-version': '1', 'content-type': 'application/json' };
    return (await fetch(url, { method: 'POST', headers, body: '{"model":"gpt-4.1"}' })).status;
  }

  it('a key revoked on the first → its tokens are refused on the second within a second', async () => {
    const { id } = await newKey();
    const mine = await tokenOfKey(id);
    expect(await callThere(mine)).toBe(200);
    await world.api.post(`${keysOf(backend.appId)}/${id}/revoke`);
    await eventually(async () => (await callThere(mine)) === 401, { withinMs: 10_000 });
  });

  it('with a new signing secret and the old one as previous → accepts the old tokens', async () => {
    expect(await callThere(await tokenOfKey((await newKey()).id))).toBe(200);
    expect(await callThere(forgeToken({ app: backend.appId, auth_method: 'api_key' }))).toBe(200);
    const stolen = { secret: 'a-secret-that-was-never-one-of-ours' };
    expect(await callThere(forgeToken({ app: backend.appId, auth_method: 'api_key' }, stolen))).toBe(401);
  });
});

describe('an instance without notifications', () => {
  it('a key revoked on it → its tokens are refused in the very next call', async () => {
    const { id } = await newKey();
    const mine = await tokenOfKey(id);
    expect((await callBackend(mine)).status).toBe(200);
    await world.gateway.app.get(ConfigChanges).close();
    await world.api.post(`${keysOf(backend.appId)}/${id}/revoke`);
    world.upstream.forget();
    await expectRefused(callBackend(mine));
  });
});
