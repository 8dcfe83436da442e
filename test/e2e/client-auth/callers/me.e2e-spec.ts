import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { forgeToken, issueToken, TOKEN_APPS } from '../../../support/client-auth/exchange/caller-tokens.js';
import { ProxyClient } from '../../../support/proxy/proxy-client.js';
import { json } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const LIMITS = {
  per_user: { requests: { per_minute: 10, per_day: 300 }, spending: { monthly_usd: 0.5 } },
  per_app: { requests: { per_minute: 1_000, per_day: 2_000 }, spending: { monthly_usd: 7 } },
};
const NAMED_USERS = { type: 'api_key', end_user: { source: 'header' } };
const VERSION = ['X-App-Version', '1.4.2'];
/** 1000 × 2 and 300 × 8 dollars per million tokens. */
const CALL_USD = 0.0044;

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(() => {
  world.logs.length = 0;
});

afterAll(() => world.stop());

const pathOf = (appId: string) => `/v1/apps/${appId}/me`;

function ask(appId: string, credential: string | undefined, headers: Record<string, string> = {}) {
  return world.as(credential).get(pathOf(appId), { headers });
}

/** An application of installations with these limits, and the token of a user of it. */
async function installation(limits: object = {}, userId = 'user-1') {
  const { id } = await world.app({ authentication: TOKEN_APPS.installations, limits });
  return { id, token: await tokenOf(id, userId) };
}

const tokenOf = (appId: string, userId: string) => issueToken(world, { appId, userId, authMethod: 'attest' });

/** Stores a user with this status, as blocking or an exchange would. */
function storeUser(appId: string, userId: string, status: 'active' | 'blocked'): Promise<unknown> {
  return world.dataSource.query(
    `INSERT INTO app_users (organization_id, app_id, id, status, created_at)
     SELECT organization_id, id, $2, $3, now() FROM apps WHERE id = $1
     ON CONFLICT (app_id, id) DO UPDATE SET status = $3`,
    [appId, userId, status],
  );
}

describe('GET /v1/apps/{app}/me', () => {
  it('a user without calls → the limits of one user, all unused', async () => {
    const { id, token } = await installation(LIMITS);
    const { status, body, headers } = await ask(id, token);
    expect([status, body]).toEqual([
      200,
      {
        user_id: 'user-1',
        limits: {
          requests_today: 0,
          requests_remaining: 300,
          requests_per_minute: 10,
          requests_per_day: 300,
          tokens_today: null,
          tokens_remaining: null,
          monthly_cost_usd: 0,
          estimated_cost_usd: 0,
          monthly_budget_usd: 0.5,
          daily_cost_usd: null,
          daily_budget_usd: null,
          weekly_cost_usd: null,
          weekly_budget_usd: null,
          blocked: false,
        },
      },
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('server-timing')).toBe(false);
  });

  it.each<[string, object | undefined, object]>([
    ['no limits', undefined, { requests_today: null, requests_remaining: null, monthly_budget_usd: null }],
    ['limits of the application alone', { per_app: LIMITS.per_app }, { requests_today: null, requests_per_day: null }],
    [
      'a limit per minute alone',
      { per_user: { requests: { per_minute: 3 } } },
      { requests_today: 0, requests_remaining: null, requests_per_minute: 3, requests_per_day: null },
    ],
    [
      'a budget of nothing',
      { per_user: { spending: { monthly_usd: 0 } } },
      { requests_today: 0, requests_remaining: null, monthly_budget_usd: 0 },
    ],
  ])('%s → reported', async (_name, limits, expected) => {
    const { id, token } = await installation(limits);
    expect((await ask(id, token)).body.limits).toMatchObject(expected);
  });

  it.each(Object.entries(TOKEN_APPS))(
    '%s → the user of the token, with or without X-App-Version',
    async (_name, authentication) => {
      const { id } = await world.app({ authentication });
      const token = forgeToken({
        app: id,
        sub: 'auth0|7',
        auth_method: authentication.type === 'api_key' ? 'api_key' : 'attest',
      });
      for (const headers of [undefined, { 'x-app-version': '1.4.2' }])
        expect((await ask(id, token, headers)).body).toMatchObject({ user_id: 'auth0|7' });
    },
  );

  it('a backend that names its users → the key and the header; without the header 400', async () => {
    const app = await world.app({ authentication: NAMED_USERS, limits: LIMITS });
    const { status, body } = await ask(app.id, app.key, { 'x-end-user-id': 'customer-1' });
    expect([status, body.user_id, body.limits.requests_remaining]).toEqual([200, 'customer-1', 300]);
    expect((await ask(app.id, app.key)).body.error).toMatchObject({ code: 'invalid_request' });
  });

  it('calls of the user → counted and priced; reading /me, or another user’s call, changes nothing', async () => {
    const client = await ProxyClient.create(world, { authentication: TOKEN_APPS.installations });
    const { name, config, revision } = (await world.api.get(`/v1/admin/apps/${client.appId}`)).body.app;
    await world.api.put(`/v1/admin/apps/${client.appId}`, { name, config: { ...config, limits: LIMITS }, revision });
    const [mine, other] = [await tokenOf(client.appId, 'user-1'), await tokenOf(client.appId, 'user-2')];
    world.upstream.script(json(200, { usage: { input_tokens: 1000, output_tokens: 300 } }));
    for (const token of [mine, mine, other]) {
      const credential = ['authorization', token];
      await client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers: VERSION, credential });
    }
    await client.events(3);
    for (let time = 0; time < 3; time++) {
      expect((await ask(client.appId, mine)).body.limits).toMatchObject({
        requests_today: 2,
        requests_remaining: 298,
        monthly_cost_usd: 2 * CALL_USD,
        estimated_cost_usd: 0,
      });
    }
    expect((await ask(client.appId, other)).body.limits).toMatchObject({
      requests_today: 1,
      monthly_cost_usd: CALL_USD,
      estimated_cost_usd: 0,
    });
    await client.events(3);
  });

  it('more calls than a lowered limit allows → none remain, never less', async () => {
    const { id, token } = await installation({ per_user: { requests: { per_day: 1 } } });
    await world.dataSource.query(
      `INSERT INTO usage_user_months SELECT organization_id, id, 'user-1', date_trunc('month', now())::date,
         5, 0, 0, 0, 0, 0, 0, 0, now(), now(), now()::date, 5 FROM apps WHERE id = $1`,
      [id],
    );
    expect((await ask(id, token)).body.limits).toMatchObject({ requests_today: 5, requests_remaining: 0 });
  });

  it('a blocked user → 200 with blocked: true, from the very next request', async () => {
    const { id, token } = await installation();
    const blocked = async () => (await ask(id, token)).body.limits.blocked;
    for (const [status, expected] of [
      ['active', false],
      ['blocked', true],
      ['active', false],
    ] as const) {
      await storeUser(id, 'user-1', status);
      expect(await blocked()).toBe(expected);
    }
    const other = await world.app({ authentication: TOKEN_APPS.installations });
    await storeUser(other.id, 'user-1', 'blocked');
    expect(await blocked()).toBe(false);
  });
});

describe('refused callers', () => {
  let mobile: string;

  beforeAll(async () => {
    mobile = (await installation()).id;
  });

  it('an application without users → 404 auth_method_not_supported, after the key is verified', async () => {
    const app = await world.app();
    const { status, body, headers } = await ask(app.id, app.key);
    expect([status, body.error.code]).toEqual([404, 'auth_method_not_supported']);
    expect(headers.get('cache-control')).toBe('no-store');
    expect((await ask(app.id, 'gw_nobody')).body.error.code).toBe('auth_required');
  });

  it.each<[string, () => string | undefined]>([
    ['nothing', () => undefined],
    ['nonsense', () => 'nonsense'],
    ['an expired token', () => forgeToken({ app: mobile, exp: 1_790_000_000 })],
    ['a token of another application', () => forgeToken({ app: 'notes-abc123' })],
    ['a management key', () => world.managementKey],
  ])('%s as credential → 401 with `no-store`', async (_name, credential) => {
    const { status, body, headers } = await ask(mobile, credential());
    expect([status, body.error.code]).toEqual([401, 'auth_required']);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('server-timing')).toBe(false);
    expect(world.logs.filter(({ message }) => message === 'gateway_error')).toHaveLength(1);
  });

  it('the token in a provider’s own header → 401', async () => {
    const token = forgeToken({ app: mobile });
    for (const name of ['x-api-key', 'x-goog-api-key'])
      expect((await ask(mobile, undefined, { [name]: token })).status).toBe(401);
  });

  it('the token in the application’s token header → served', async () => {
    const { id } = await world.app({ authentication: TOKEN_APPS['users of an issuer on devices'] });
    expect((await ask(id, undefined, { 'x-gateway-token': forgeToken({ app: id }) })).status).toBe(200);
  });

  it('a disabled application → 403; an unknown one → 404', async () => {
    const { id, token } = await installation();
    const { name, config, revision } = (await world.api.get(`/v1/admin/apps/${id}`)).body.app;
    await world.api.put(`/v1/admin/apps/${id}`, { name, config, revision, status: 'disabled' });
    expect((await ask(id, token)).body.error.code).toBe('app_disabled');
    expect((await ask('notes-abc123', token)).body.error.code).toBe('app_not_found');
  });
});
