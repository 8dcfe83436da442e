import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/accounts/accounts.js';
import { rawDeviceConfig, rawSelection, rawServerConfig } from '../../support/apps/app-configs.js';
import { storeEvents } from '../../support/usage/recording/usage-events.js';
import { useApp } from '../../support/users/users.js';
import { startWorld, type World } from '../../support/world.js';

const APPS = '/v1/admin/apps';
const PRICED = 'gpt-4.1';
let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.provider({ slug: 'openai' });
  await world.provider({ slug: 'openai-backup' });
});

afterAll(() => world.stop());

const serverBody = (changes: Record<string, unknown> = {}) => ({
  name: 'Notes',
  config: rawServerConfig(),
  ...changes,
});

/** Creates an application and returns the data for a replacement. */
async function created(changes: Record<string, unknown> = {}): Promise<{ id: string; revision: number }> {
  const answer = await world.api.post(APPS, serverBody(changes));
  expect(answer.status).toBe(201);
  return { id: answer.body.app.id, revision: answer.body.app.revision };
}

const refusal = (code: string, message: unknown = expect.any(String)) => ({ error: { code, message } });

describe('POST /v1/admin/apps', () => {
  it('server application → 201, revision 1, active, and a first key that is shown once', async () => {
    const { status, body } = await world.api.post(APPS, serverBody({ name: '  Größe & Notes  ' }));
    expect(status).toBe(201);
    expect(body.app).toMatchObject({ name: 'Größe & Notes', status: 'active', revision: 1 });
    expect(body.app.id).toMatch(/^gro-e-notes-[0-9a-hjkmnp-tv-z]{6}$/);
    expect(body.app.created_at).toBe(body.app.updated_at);
    expect(body).toMatchObject({ config_error: null, resolved: { id: body.app.id, status: 'active' } });
    expect(body.api_key).toMatchObject({ name: 'Default key', key: expect.stringMatching(/^gw_[0-9A-Za-z]{48}$/) });
    const read = await world.api.get(`${APPS}/${body.app.id}`);
    expect(read.body).toEqual({ app: body.app, resolved: body.resolved, config_error: null });
    expect(read.text).not.toContain(body.api_key.key);
  });

  it('mobile application with every part of the configuration → 201, normalised, no key', async () => {
    const { status, body } = await world.api.post(APPS, { name: 'Mobile', config: rawDeviceConfig() });
    expect(status).toBe(201);
    expect(body.api_key).toBeNull();
    expect(body.app.config.authentication.end_user.issuer).toMatchObject({
      audience: ['mobile'],
      token_header: 'x-gateway-token',
    });
    expect(body.resolved).toMatchObject({
      routing: { providerMode: 'selected', modelRewrites: { fast: 'gpt-4.1-mini' } },
      limits: { perUser: { requestsPerMinute: 10, monthlyBudgetMicrousd: 500_000 } },
    });
  });

  it('status sent → kept', async () => {
    const { body } = await world.api.post(APPS, serverBody({ status: 'disabled' }));
    expect(body.app.status).toBe('disabled');
  });

  it.each([
    ['an id', { id: 'my-own-id' }, /id: is assigned by the service/],
    ['no name', { name: undefined }, /^name: is required/],
    ['a blank name', { name: '   ' }, /^name: /],
    ['a name of 101 characters', { name: 'n'.repeat(101) }, /^name: /],
    ['no configuration', { config: undefined }, /^config: is required/],
    ['a list for a configuration', { config: [] }, /^config: must be an object/],
    ['an unknown status', { status: 'paused' }, /^status: /],
    ['an unknown member', { colour: 'blue' }, /^colour: is not a known member/],
    ['a revision', { revision: 1 }, /^revision: is not a known member/],
  ])('body with %s → 400 saying so', async (_what, changes, message) => {
    const { status, body } = await world.api.post(APPS, serverBody(changes));
    expect(status).toBe(400);
    expect(body).toEqual(refusal('invalid_request', expect.stringMatching(message)));
  });

  it('refused → nothing stored', async () => {
    const before = await world.api.get(APPS);
    await world.api.post(APPS, serverBody({ config: {} }));
    expect((await world.api.get(APPS)).body.apps).toHaveLength(before.body.apps.length);
  });

  const selected = { allowed_paths: [], allowed_models: [] };
  const endpoint = { api_style: 'responses', provider: 'openai', model: PRICED };
  it.each([
    ['selected provider that does not exist', rawSelection({ groq: selected }), 'routing.providers.selected.groq'],
    [
      'model without a price',
      rawSelection({ openai: { ...selected, allowed_models: ['no-such-model'] } }),
      'routing.providers.selected.openai.allowed_models.0',
    ],
    ['rewrite to an unpriced model', rawSelection({}, { fast: 'no-such-model' }), 'routing.model_rewrites.fast'],
    [
      'endpoint on an unknown provider',
      { ...rawServerConfig(), endpoints: { sum: { ...endpoint, provider: 'groq' } } },
      'endpoints.sum.provider',
    ],
    [
      'fallback without a price',
      { ...rawServerConfig(), endpoints: { sum: { ...endpoint, fallback: [{ provider: 'openai', model: 'nope' }] } } },
      'endpoints.sum.fallback.0.model',
    ],
  ])('%s → 400 naming the path', async (_what, config, place) => {
    const { status, body } = await world.api.post(APPS, serverBody({ config }));
    expect(status).toBe(400);
    expect(body.error.message).toMatch(new RegExp(`^config\\.${place.replaceAll('.', '\\.')}: `));
  });
});

describe('GET /v1/admin/apps', () => {
  it('the list of an account → ordered by id, with zero usage this month', async () => {
    const other = await newAccount(world.dataSource);
    const api = world.as(other.key);
    for (const name of ['Beta', 'Alpha']) await api.post(APPS, serverBody({ name }));
    const { status, body } = await api.get(APPS);
    expect(status).toBe(200);
    expect(body).toMatchObject({ month: new Date().toISOString().slice(0, 7), has_proxied_requests: false });
    expect(body.apps.map((app: { name: string }) => app.name)).toEqual(['Alpha', 'Beta']);
    expect(body.apps[0]).toMatchObject({
      authentication_type: 'api_key',
      apple_bundle_id: null,
      providers: [],
      users: { total: 0, blocked: 0 },
      usage: { requests: 0, cost_usd: 0, errors: 0, blocked: 0 },
    });
  });

  it('a page of `limit` after the last id → every application once, in the order of the whole list', async () => {
    const { organizationId, key } = await newAccount(world.dataSource);
    const api = world.as(key);
    for (const name of ['a b', 'A', 'a', 'ab', 'B', 'b']) await api.post(APPS, serverBody({ name }));
    const idsOf = async (query: string): Promise<string[]> => {
      const { status, body } = await api.get(`${APPS}?${query}`);
      expect(status).toBe(200);
      return body.apps.map((app: { id: string }) => app.id);
    };
    const all = await idsOf('');
    expect(all).toEqual(all.toSorted());
    const first = await idsOf('limit=4');
    const second = await idsOf(`limit=4&after_id=${first[3]}`);
    expect([first.length, second.length, [...first, ...second]]).toEqual([4, 2, all]);
    expect(await idsOf(`limit=4&after_id=${second[1]}`)).toEqual([]);
    expect(await idsOf(`after_id=${all[0]}`)).toEqual(all.slice(1));
    await useApp(world.dataSource, { id: second[0] ?? '', organizationId }, 'ann', { firstAt: '2025-04-01T00:00:00Z' });
    const { apps } = (await api.get(`${APPS}?limit=1&after_id=${first[3]}`)).body;
    expect(apps).toEqual([expect.objectContaining({ id: second[0], users: { total: 1, blocked: 0 } })]);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=',
    'limit=1.5',
    'limit=1&limit=2',
    'offset=-1',
    `after_id=${'a'.repeat(65)}`,
    'sort=price',
    'sort=',
    'order=up',
    'status=blocked',
    `query=${'a'.repeat(201)}`,
    'after_id=a&sort=cost',
    'after_id=a&order=desc',
  ])('%s → 400', async (query) => {
    const { status, body } = await world.api.get(`${APPS}?${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  });

  it('search, status, order and offset → the requested page, the total number, and usage of the whole account', async () => {
    const { organizationId, key } = await newAccount(world.dataSource);
    const api = world.as(key);
    const create = async (body: object): Promise<string> => (await api.post(APPS, body)).body.app.id;
    const shop = await create(serverBody({ name: 'Shop two' }));
    const small = await create(serverBody({ name: 'shop one', status: 'disabled' }));
    const attested = { ...rawServerConfig(), authentication: rawDeviceConfig().authentication };
    const mobile = await create({ name: 'Notes', config: attested });
    const event = (app: string, at: string, more: object) => ({
      app_id: app,
      organization_id: organizationId,
      at,
      ...more,
    });
    await storeEvents(
      world.dataSource,
      event(shop, '2025-03-01T00:00:00Z', { cost_nano_usd: 2_000_000_000, user_id: 'ann' }),
      event(small, '2025-03-31T23:59:59Z', { cost_nano_usd: 3_000_000_000, status: 'provider_error' }),
      event('deleted-abc123', '2025-03-15T00:00:00Z', { cost_nano_usd: 500_000_000, requests: 2 }),
      event(mobile, '2025-04-01T00:00:00Z', { cost_nano_usd: 9_000_000_000 }),
    );
    const list = async (query: string) => {
      const { status, body } = await api.get(`${APPS}?month=2025-03&${query}`);
      expect(status).toBe(200);
      return { ids: body.apps.map((app: { id: string }) => app.id), total: body.total, usage: body.usage };
    };
    const usage = expect.objectContaining({ requests: 4, cost_usd: 5.5, errors: 1 });
    expect(await list('sort=cost')).toEqual({ ids: [small, shop, mobile], total: 3, usage });
    expect(await list('sort=cost&order=asc&limit=1')).toMatchObject({ ids: [mobile], total: 3 });
    expect(await list('sort=cost&offset=1&limit=1')).toEqual({ ids: [shop], total: 3, usage });
    expect(await list('offset=3')).toMatchObject({ ids: [], total: 3 });
    expect(await list('sort=name')).toMatchObject({ ids: [mobile, small, shop] });
    expect(await list('sort=name&order=desc')).toMatchObject({ ids: [shop, small, mobile] });
    expect(await list('sort=errors&limit=1')).toMatchObject({ ids: [small] });
    expect(await list('sort=users&limit=1')).toMatchObject({ ids: [shop] });
    expect(await list('sort=requests&order=asc&limit=1')).toMatchObject({ ids: [mobile] });
    expect(await list('query=SHOP&sort=name')).toEqual({ ids: [small, shop], total: 2, usage });
    expect(await list('query=shop&status=active')).toMatchObject({ ids: [shop], total: 1 });
    expect(await list(`query=${small}`)).toMatchObject({ ids: [small], total: 1 });
    expect(await list('query=com.EXAMPLE.app')).toMatchObject({ ids: [mobile], total: 1 });
    expect(await list('query=%25')).toMatchObject({ ids: [], total: 0 });
  });

  it('usage of the requested month → in the row of its application; users of all time', async () => {
    const { organizationId, key } = await newAccount(world.dataSource);
    const api = world.as(key);
    const { id } = (await api.post(APPS, serverBody())).body.app;
    const used = { app_id: id, organization_id: organizationId };
    await storeEvents(
      world.dataSource,
      {
        ...used,
        user_id: 'ann',
        at: '2025-03-31T23:59:59Z',
        input_tokens: 100,
        output_tokens: 20,
        cost_nano_usd: 1_500_000,
      },
      { ...used, user_id: 'bob', at: '2025-03-01T00:00:00Z', status: 'provider_error' },
      { ...used, user_id: 'ann', at: '2025-04-01T00:00:00Z', input_tokens: 7, output_tokens: 7, cost_nano_usd: 7 },
    );
    for (const user of ['ann', 'bob']) {
      await useApp(world.dataSource, { id, organizationId }, user, { firstAt: '2025-04-01T00:00:00Z' });
    }
    const { body } = await api.get(`${APPS}?month=2025-03`);
    expect(body).toMatchObject({ month: '2025-03', has_proxied_requests: true });
    expect(body.apps).toEqual([
      expect.objectContaining({
        users: { total: 2, blocked: 0 },
        usage: expect.objectContaining({
          requests: 2,
          input_tokens: 100,
          output_tokens: 20,
          cost_usd: 0.0015,
          estimated_cost_usd: 0,
          errors: 1,
        }),
      }),
    ]);
  });

  it.each([['2025-13'], ['2025-1'], [''], ['2025-03-01'], ['2025-03&month=2025-04']])(
    'month=%s → 400',
    async (month) => {
      expect((await world.api.get(`${APPS}?month=${month}`)).status).toBe(400);
    },
  );
});

describe('DELETE /v1/admin/apps/{app}', () => {
  it.each([[''], ['?confirm='], ['?confirm=other'], ['?confirm=ID&confirm=ID']])(
    'confirmation "%s" → 400, still there',
    async (query) => {
      const { id } = await created();
      const { status, body } = await world.api.delete(`${APPS}/${id}${query.replaceAll('ID', id)}`);
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
      expect((await world.api.get(`${APPS}/${id}`)).status).toBe(200);
    },
  );

  it('confirmed → application and keys are deleted, usage is kept, and the id is not reused', async () => {
    const { id } = await created();
    await storeEvents(world.dataSource, { app_id: id, organization_id: 'x', at: '2025-04-01T00:00:00Z' });
    const { status, body } = await world.api.delete(`${APPS}/${id}?confirm=${id}`);
    expect(status).toBe(200);
    expect(body).toEqual({ deleted: true, app_id: id, removed_users: 0, usage_events_retained: true });
    expect((await world.api.get(`${APPS}/${id}`)).status).toBe(404);
    expect((await world.api.delete(`${APPS}/${id}?confirm=${id}`)).status).toBe(404);
    const [left] = await world.dataSource.query(
      'SELECT (SELECT count(*)::int FROM app_keys WHERE app_id = $1) keys, (SELECT count(*)::int FROM usage_events WHERE app_id = $1) events',
      [id],
    );
    expect(left).toEqual({ keys: 0, events: 1 });
  });
});

describe('an application of another account', () => {
  it('every route → the same 404 as one that does not exist', async () => {
    const { id } = await created();
    const stranger = world.as((await newAccount(world.dataSource)).key);
    for (const app of [id, 'no-such-app']) {
      const answers = await Promise.all([
        stranger.get(`${APPS}/${app}`),
        stranger.put(`${APPS}/${app}`, serverBody({ revision: 1 })),
        stranger.post(`${APPS}/${app}/validate`, serverBody()),
        stranger.get(`${APPS}/${app}/check`),
        stranger.delete(`${APPS}/${app}?confirm=${app}`),
        stranger.get(`${APPS}/${app}/keys`),
        stranger.post(`${APPS}/${app}/keys`, { name: 'Stolen' }),
        stranger.post(`${APPS}/${app}/keys/key_${'a'.repeat(20)}/revoke`),
      ]);
      for (const answer of answers) {
        expect([answer.status, answer.body]).toEqual([404, refusal('app_not_found', 'Application not found.')]);
      }
    }
    expect((await stranger.get(APPS)).body.apps).toEqual([]);
  });
});
