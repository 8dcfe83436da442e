import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AuthTrail } from '../../../support/client-auth/exchange/auth-trail.js';
import { changeApp, type MobileWorld, startMobileWorld } from '../../../support/client-auth/exchange/mobile-world.js';

let world: MobileWorld;

beforeAll(async () => {
  world = await startMobileWorld();
});

afterAll(() => world.stop());

async function backend(issuer?: Record<string, unknown>) {
  const app = await world.backendApp(issuer);
  const issuerToken = await world.issuer.token({ sub: 'ada' });
  const post = (body: unknown, headers = {}) =>
    world.as(undefined).post(`/v1/apps/${app.id}/auth/token`, body, { headers });
  return { app, post, trail: new AuthTrail(world, app.id), good: { api_key: app.key, issuer_token: issuerToken } };
}

const refused = (status: number, code: string, reason?: string, userId?: string) =>
  ({ event: 'token_exchange', method: 'api_key', status, code, reason, userId }) as const;

const keyInvalid = refused(403, 'auth_required', 'app_key_invalid');
const served = { event: 'token_exchange', method: 'api_key', userId: 'ada' } as const;

const manage = (app: { id: string }, action: string) => world.api.post(`/v1/admin/apps/${app.id}/${action}`);

async function revokeKeys(app: { id: string }): Promise<void> {
  const { body } = await world.api.get(`/v1/admin/apps/${app.id}/keys`);
  for (const { id } of body.keys) expect((await manage(app, `keys/${id}/revoke`)).status).toBe(200);
}

describe('exchange of an API key', () => {
  it('key and token → a gateway token of the user, stored at first sight', async () => {
    const { app, post, trail, good } = await backend();
    const answer = await post(good, { 'x-app-version': '7.1' });
    expect(answer.body).toEqual({ access_token: expect.any(String), expires_in: 3600 });
    await trail.isServed(answer, served);
    const users = await world.dataSource.query('SELECT id, last_seen_at FROM app_users WHERE app_id = $1', [app.id]);
    expect(users).toEqual([{ id: 'ada', last_seen_at: expect.any(Date) }]);
  });

  it.each([
    ['named by a header', { source: 'header' }],
    ['of nobody', undefined],
  ])('users %s → 400 auth_method_not_supported before the schema, method unknown', async (_, end_user) => {
    const app = await world.app({ authentication: { type: 'api_key', end_user } });
    const answer = await world.as(undefined).post(`/v1/apps/${app.id}/auth/token`, { api_key: app.key });
    const unsupported = refused(400, 'auth_method_not_supported', 'no_issuer_identity');
    await new AuthTrail(world, app.id).isRefused(answer, { ...unsupported, method: null });
  });

  it('active before any check of the body → app_disabled', async () => {
    const { app, post, trail } = await backend();
    await changeApp(world, app, { status: 'disabled' });
    await trail.isRefused(await post({}), { ...refused(403, 'app_disabled'), method: null });
  });

  it.each([
    ['api_key', { api_key: undefined }],
    ['api_key', { api_key: '' }],
    ['api_key', { api_key: 7 }],
    ['issuer_token', { issuer_token: undefined }],
    ['issuer_token', { issuer_token: '' }],
    ['issuer_token', { issuer_token: null }],
    ['key_id', { key_id: 'k' }],
    ['colour', { colour: 'blue' }],
    ['__proto__', JSON.parse('{"__proto__":{}}')],
  ])('schema before key: wrong %s → 400; no extra members, and at least 1 character each', async (member, changes) => {
    const { app, post, trail, good } = await backend();
    await revokeKeys(app);
    const answer = await post(Object.fromEntries(Object.entries({ ...good }).concat(Object.entries(changes))));
    await trail.isRefused(answer, refused(400, 'invalid_request'));
    expect(answer.body.error.message).toMatch(new RegExp(`^${member}: `));
  });

  it('key before issuer token: a revoked, foreign, unknown or management key → 403 auth_required at once', async () => {
    const { app, post, trail, good } = await backend();
    const bad = { issuer_token: 'not.a.token' };
    const foreign = (await backend()).app.key;
    for (const api_key of [foreign, `gw_${'a'.repeat(48)}`, world.managementKey, 'x'])
      await trail.isRefused(await post({ ...bad, api_key }), keyInvalid);
    await trail.isServed(await post(good), served);
    await revokeKeys(app);
    await trail.isRefused(await post({ ...bad, api_key: app.key }), keyInvalid);
    await trail.isRefused(await post(good), keyInvalid);
  });

  it('issuer token before block → issuer_token_rejected, without a user; then blocked → 403, with the user', async () => {
    const { app, post, trail, good } = await backend();
    await trail.isServed(await post(good), served);
    await manage(app, 'users/ada/block');
    const rejected = refused(403, 'issuer_token_rejected', 'expired');
    const issuer_token = await world.issuer.token({ sub: 'ada' }, { expiresIn: 0 });
    await trail.isRefused(await post({ ...good, issuer_token }), rejected);
    await trail.isRefused(await post(good), refused(403, 'auth_required', 'user_blocked', 'ada'));
    await manage(app, 'users/ada/unblock');
    await trail.isServed(await post(good), served);
  });

  it('claims whose names are URLs → addressed by lists, stored and returned as they were sent', async () => {
    const name = 'https://example.com/claims';
    const paths = { user_id_claim: [name, 'user.id'], required_claims: [{ path: [name, 'plan'], equals: 'pro' }] };
    const { app, post, trail, good } = await backend(paths);
    const { config } = (await world.api.get(`/v1/admin/apps/${app.id}`)).body.app;
    expect(config.authentication.end_user.issuer).toMatchObject(paths);
    const issuer_token = await world.issuer.token({ sub: 'sub', [name]: { 'user.id': 'ada', plan: 'pro' } });
    await trail.isServed(await post({ ...good, issuer_token }), served);
    const unpaid = await world.issuer.token({ sub: 'sub', [name]: { 'user.id': 'ada', plan: 'free' } });
    const missing = refused(403, 'issuer_claims_missing', 'claims_missing', 'ada');
    await trail.isRefused(await post({ ...good, issuer_token: unpaid }), missing);
  });

  it('3.4: a claim is missing → issuer_claims_missing, the user named and stored as waiting', async () => {
    const { app, post, trail, good } = await backend({ required_claims: [{ path: 'plan', equals: 'pro' }] });
    const missing = refused(403, 'issuer_claims_missing', 'claims_missing', 'ada');
    await trail.isRefused(await post(good), missing);
    const users = await world.dataSource.query('SELECT id, last_seen_at FROM app_users WHERE app_id = $1', [app.id]);
    expect(users).toEqual([{ id: 'ada', last_seen_at: null }]);
    const issuer_token = await world.issuer.token({ sub: 'ada', plan: 'pro' });
    expect((await post({ ...good, issuer_token })).status).toBe(200);
    expect(await trail.events()).toMatchObject([{ outcome: 'ok', claim_delay_ms: expect.any(Number) }]);
  });

  it('1.3: revoked without a notification → also refused: the key is read each time', async () => {
    const { app, post, trail, good } = await backend();
    await trail.isServed(await post(good), served);
    await world.dataSource.query("UPDATE app_keys SET status = 'revoked' WHERE app_id = $1", [app.id]);
    await trail.isRefused(await post(good), keyInvalid);
  });

  it('3.2: key revoked → no token is exchanged from then on, and its tokens are invalid', async () => {
    const { app, post, good } = await backend();
    const token = (await post(good)).body.access_token;
    const me = () => world.as(token).get(`/v1/apps/${app.id}/me`);
    expect((await me()).status).toBe(200);
    await revokeKeys(app);
    expect([(await post(good)).status, (await me()).status]).toEqual([403, 401]);
  });

  it('groups by claim → read at the exchange, whatever the phone sends; missing or added later → refused', async () => {
    const provider = await world.provider({ type: 'openai', slug: 'openai' });
    const { app, post, trail } = await backend();
    const limits = { groups: { tenant: { claim: 'org.id', spending: { daily_usd: 0 } } } };
    const answer = await post({ api_key: app.key, issuer_token: await world.issuer.token({ sub: 'ada' }) });
    await trail.isServed(answer, served);
    await changeApp(world, app, { config: { limits } });
    const call = (token: string) =>
      world.as(token).post(
        `/v1/apps/${app.id}/proxy/${provider.slug}/v1/responses`,
        { model: 'gpt-4.1', input: 'Hi' },
        {
          headers: { 'x-app-version': '1.0', tenant: 'blue' },
        },
      );
    const old = await call(answer.body.access_token);
    expect([old.status, old.body.error.message]).toEqual([401, expect.stringContaining('"tenant"')]);
    trail.lines();
    const missing = refused(403, 'issuer_claims_missing', 'claims_missing', 'ada');
    for (const org of [undefined, { id: 7 }, { id: '' }, { id: 'x'.repeat(129) }]) {
      const issuer_token = await world.issuer.token({ sub: 'ada', org });
      await trail.isRefused(await post({ api_key: app.key, issuer_token }), missing);
    }
    const issuer_token = await world.issuer.token({ sub: 'ada', org: { id: 'blue' } });
    const { access_token } = (await post({ api_key: app.key, issuer_token })).body;
    const spent = await call(access_token);
    expect([spent.status, spent.body.error.data]).toEqual([429, { scope: 'group', window: 'day', group: 'tenant' }]);
  });

  it.each([
    ['a header of groups', { groups: { team: { header: 'x-team' } } }],
    ['runs', { runs: { max_usd: 1 } }],
  ])('%s → refused: phones hold the tokens', async (_name, limits) => {
    const { app } = await backend();
    await expect(changeApp(world, app, { config: { limits } })).rejects.toThrow();
  });
});
