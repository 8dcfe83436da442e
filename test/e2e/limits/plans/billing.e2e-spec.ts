import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { firstOrganizationId, newAccount, newMember } from '../../../support/accounts/accounts.js';
import { newPerson } from '../../../support/accounts/people.js';
import type { ApiAnswer, ApiClient } from '../../../support/api-client.js';
import { PlansFileOnDisk } from '../../../support/limits/plans/plans-file.js';
import { startWorld, type World } from '../../../support/world.js';

const STATUS = '/v1/admin/billing/status';
const PLANS = '/v1/admin/billing/plans';
const SERVER_APP = {
  authentication: { type: 'api_key' },
  routing: { providers: { mode: 'all' }, model_rewrites: {} },
};
const AT_ONCE = 20;
const LIMIT = 3;

const plan = (limits: object) => ({ name: 'Plan', limits });
const ALL_PLANS = {
  open: { name: 'Open', description: 'As much as you like', features: ['Everything'], limits: {} },
  apps: plan({ max_apps: LIMIT }),
  providers: plan({ max_providers: LIMIT }),
  gateways: plan({ max_provider_gateways: LIMIT }),
  keys: plan({ max_active_keys_per_app: LIMIT }),
  no_keys: plan({ max_active_keys_per_app: 0 }),
};

interface Account {
  readonly id: string;
  readonly key: string;
  readonly api: ApiClient;
  /** Its owner, through the console. */
  readonly owner: ApiClient;
}

const plansFile = new PlansFileOnDisk();
const accounts = new Map<string, Account>();
let world: World;

beforeAll(async () => {
  plansFile.write({ default_plan: 'open', plans: ALL_PLANS });
  world = await startWorld({ env: { PLANS_FILE: plansFile.path } });
  const terms: Record<string, object> = {};
  const give = async (name: string, members: object) => {
    const { organizationId: id, key } = await newAccount(world.dataSource);
    const { client: owner } = await newPerson(world, { organizationId: id });
    accounts.set(name, { id, key, api: world.as(key), owner });
    terms[id] = members;
  };
  for (const key of Object.keys(ALL_PLANS)) await give(key, { plan: key });
  await give('none', { plan: null });
  await give('cancelled', { plan: 'open', status: 'cancelled' });
  await give('ended', { plan: 'open', ends_at: '2026-01-01T00:00:00Z' });
  await give('past_due', { plan: 'open', status: 'past_due', period_anchor_day: 28 });
  await plansFile.hand(world, { default_plan: 'open', plans: ALL_PLANS, accounts: terms });
});

afterAll(async () => {
  await world.stop();
  plansFile.remove();
});

/** The owner of a world's first account, through the console. */
async function ownerOf(of: World): Promise<ApiClient> {
  return (await newPerson(of, { organizationId: await firstOrganizationId(of.dataSource) })).client;
}

function account(name: string): Account {
  const found = accounts.get(name);
  if (found === undefined) throw new Error(`no account ${name}`);
  return found;
}

const createApp = (api: ApiClient) => api.post('/v1/admin/apps', { name: 'Metered', config: SERVER_APP });
const createGateway = (api: ApiClient) =>
  api.post('/v1/admin/provider-gateways', { type: 'vercel', name: 'Edge', token: 'token-of-the-gateway' });
const createKey = (api: ApiClient, app: string) => api.post(`/v1/admin/apps/${app}/keys`, { name: 'Another' });
const createProvider = (api: ApiClient, slug: string) =>
  api.post('/v1/admin/providers', { type: 'openai', name: 'Metered', slug, secret: 'sk-test-provider-secret' });

/** Creates many at once, of which `room` pass. @returns what was created. */
async function fill(room: number, create: (index: number) => Promise<ApiAnswer>): Promise<ApiAnswer[]> {
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => create(index)));
  const created = answers.filter(({ status }) => status === 201);
  expect(created).toHaveLength(room);
  for (const { status, body } of answers.filter((answer) => !created.includes(answer))) {
    expect([status, body.error.code]).toEqual([409, 'billing_plan_limit_reached']);
    expect(body.error.data).toEqual({ limit: LIMIT, used: LIMIT });
    expect(body.error.message).toMatch(/^The plan allows 3 /);
  }
  return created;
}

describe('ceilings: twenty creations at once', () => {
  it('applications → exactly as many are created as the plan allows; a deleted one frees a place', async () => {
    const { api } = account('apps');
    const [first] = await fill(LIMIT, () => createApp(api));
    const id = first?.body.app.id;
    expect((await api.get('/v1/admin/apps')).body.apps).toHaveLength(LIMIT);
    await api.delete(`/v1/admin/apps/${id}?confirm=${id}`);
    await fill(1, () => createApp(api));
  });

  it('providers → exactly as many are created; a disabled one still counts, a deleted one does not', async () => {
    const { api } = account('providers');
    const [first] = await fill(LIMIT, (index) => createProvider(api, `metered-${index}`));
    const path = `/v1/admin/providers/${first?.body.provider.id}`;
    expect((await api.put(path, { status: 'disabled' })).status).toBe(200);
    expect((await createProvider(api, 'one-more')).status).toBe(409);
    await api.delete(path);
    await fill(1, (index) => createProvider(api, `again-${index}`));
  });

  it('provider gateways → exactly as many are created; a deleted one frees a place', async () => {
    const { api } = account('gateways');
    const [first] = await fill(LIMIT, () => createGateway(api));
    await api.delete(`/v1/admin/provider-gateways/${first?.body.gateway.id}`);
    await fill(1, () => createGateway(api));
  });

  it('active keys → exactly as many per application, including the first; a revoked one frees a place', async () => {
    const { api } = account('keys');
    for (const { body } of [await createApp(api), await createApp(api)]) {
      const app = body.app.id;
      await fill(LIMIT - 1, () => createKey(api, app));
      await api.post(`/v1/admin/apps/${app}/keys/${body.api_key.id}/revoke`);
      await fill(1, () => createKey(api, app));
    }
  });

  it('an application whose first key exceeds the limit → neither is stored', async () => {
    const { api } = account('no_keys');
    const { status, body } = await createApp(api);
    expect([status, body.error.code, body.error.data]).toEqual([
      409,
      'billing_plan_limit_reached',
      { limit: 0, used: 0 },
    ]);
    expect((await api.get('/v1/admin/apps')).body.apps).toEqual([]);
  });

  it('one account is at its limit → other accounts, and resources without a limit, are not affected', async () => {
    expect((await createProvider(account('apps').api, 'free-of-charge')).status).toBe(201);
    expect((await createApp(account('open').api)).status).toBe(201);
    expect((await createApp(world.api)).status).toBe(201);
  });
});

describe('accounts without a plan in force', () => {
  it.each([
    ['none', 'plan_missing'],
    ['cancelled', 'plan_cancelled'],
    ['ended', 'plan_ended'],
  ])('%s → 402 for every creation; reading and changing continue', async (name, reason) => {
    const { api, owner } = account(name);
    for (const answer of [await createApp(api), await createProvider(api, 'openai'), await createGateway(api)]) {
      expect([answer.status, answer.body.error.code]).toEqual([402, 'billing_payment_required']);
    }
    expect((await api.get('/v1/admin/apps')).status).toBe(200);
    const refusal = { code: 'billing_payment_required', reason, status: 402, path: '/v1/admin/apps' };
    expect(world.logs).toContainEqual(expect.objectContaining(refusal));
    expect((await owner.get(STATUS)).body).toMatchObject({
      access: { state: 'billed', plan: null, billingErrorCode: 'billing_payment_required' },
      limits: {},
      quota: null,
    });
  });

  it('past due → creations are allowed', async () => {
    const { api, owner } = account('past_due');
    expect((await createApp(api)).status).toBe(201);
    expect((await owner.get(STATUS)).body.access).toMatchObject({ subscription: { status: 'past_due' } });
  });
});

describe('billing status and plans', () => {
  it('a key with any permission → 403 session_required', async () => {
    const { id, api } = account('apps');
    const { key } = await newMember(world.dataSource, id, { role: 'member', grant: 'read' });
    for (const client of [api, world.as(key)]) {
      for (const path of [STATUS, PLANS]) {
        const answer = await client.get(path);
        expect([answer.status, answer.body.error.code]).toEqual([403, 'session_required']);
      }
    }
  });

  it('status → access, limits and quota of the caller’s own account, only for its people', async () => {
    const { id } = account('apps');
    const { client } = await newPerson(world, { organizationId: id, role: 'member' });
    const { status, body } = await client.get(STATUS);
    const limits = { maxApps: LIMIT };
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['access', 'limits', 'quota']);
    expect(body.access).toMatchObject({
      state: 'billed',
      plan: { planKey: 'apps', planName: 'Plan', limits, isDefault: false },
      subscription: { subscriptionId: id, status: 'active', planKey: 'apps', billingAnchorDay: 1 },
    });
    expect(body.access).not.toHaveProperty('stale');
    expect(body.limits).toEqual(limits);
    expect(body.quota).toEqual({
      periodId: expect.stringMatching(/^\d{4}-\d\d-01$/),
      periodStart: `${body.quota.periodId}T00:00:00.000Z`,
      periodEnd: expect.stringMatching(/^\d{4}-\d\d-01T00:00:00.000Z$/),
      resetAt: body.quota.periodEnd,
      used: 0,
    });
    for (const path of [STATUS, PLANS]) expect((await world.as(undefined).get(path)).status).toBe(401);
  });

  it('plans → all of them, in the order of the file', async () => {
    const { plans } = (await account('none').owner.get(PLANS)).body;
    expect(plans.map(({ planKey }: { planKey: string }) => planKey)).toEqual(Object.keys(ALL_PLANS));
    expect(plans[0]).toEqual({
      planKey: 'open',
      name: 'Open',
      description: 'As much as you like',
      features: ['Everything'],
      limits: {},
      trialDays: 0,
      prices: [],
    });
  });
});

describe('a plans file that changes while the service runs', () => {
  it('an invalid version → the previous one stays in force and is stale; then a larger plan → more calls pass', async () => {
    const { id, api, owner } = account('providers');
    await plansFile.hand(world, { plans: { open: plan({ max_things: 1 }) } }, 'plans_file_unreadable');
    expect(world.logs).toContainEqual(
      expect.objectContaining({
        message: 'plans_file_unreadable',
        level: 'error',
        error: 'file.plans.open.limits.max_things: is not a known field',
      }),
    );
    expect((await createProvider(api, 'while-broken')).status).toBe(409);
    expect((await owner.get(STATUS)).body).toMatchObject({
      access: { state: 'billed', stale: true, plan: { planKey: 'providers' } },
      limits: { maxProviders: LIMIT },
    });
    const larger = { providers: plan({ max_providers: LIMIT + 1 }) };
    await plansFile.hand(world, { plans: larger, accounts: { [id]: { plan: 'providers' } } });
    expect((await owner.get(STATUS)).body.access).not.toHaveProperty('stale');
    expect((await createProvider(api, 'after-mending')).status).toBe(201);
    expect((await createProvider(api, 'too-much')).status).toBe(409);
  });
});

describe('no file at the start', () => {
  it('accounts get 503 with Retry-After until a file exists', async () => {
    const late = new PlansFileOnDisk();
    const waiting = await startWorld({ env: { PLANS_FILE: late.path } });
    try {
      const owner = await ownerOf(waiting);
      for (const answer of [await createApp(waiting.api), await owner.get(PLANS)]) {
        expect([answer.status, answer.body.error.code]).toEqual([503, 'billing_unavailable']);
        expect(answer.headers.get('retry-after')).toBe('5');
      }
      expect((await owner.get(STATUS)).body).toEqual({
        access: { state: 'unavailable', billingErrorCode: 'billing_unavailable' },
        limits: {},
        quota: null,
      });
      expect((await waiting.as(undefined).get('/v1/readyz')).status).toBe(200);
      await late.hand(waiting, { default_plan: 'open', plans: { open: plan({}) } });
      expect((await createApp(waiting.api)).status).toBe(201);
    } finally {
      await waiting.stop();
      late.remove();
    }
  });
});

describe('without PLANS_FILE', () => {
  it('self-hosted, no ceilings, no plans', async () => {
    const own = await startWorld();
    try {
      const owner = await ownerOf(own);
      expect((await owner.get(STATUS)).body).toEqual({ access: { state: 'self_hosted' }, limits: {}, quota: null });
      expect((await owner.get(PLANS)).body).toEqual({ plans: [] });
      const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => createApp(own.api)));
      expect(answers.map(({ status }) => status)).toEqual(new Array(AT_ONCE).fill(201));
    } finally {
      await own.stop();
    }
  });
});
