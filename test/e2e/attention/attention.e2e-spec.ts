import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { firstOrganizationId, newAccount } from '../../support/accounts/accounts.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../support/world.js';

const NAMED_USERS = { type: 'api_key', end_user: { source: 'header' } };
/** The cost of some calls: 1000 × 2 and 300 × 8 dollars per million tokens each. */
const usd = (calls: number) => (calls * 4400) / 1_000_000;
const PRICED = json(200, { usage: { input_tokens: 1000, output_tokens: 300 } });
const WITHOUT_USAGE = json(200, {});
const FAILED = json(500, { error: 'down' });

interface Item {
  readonly kind: string;
  readonly id: string;
}

let world: World;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.stop());

let before: string[];

beforeEach(async () => {
  before = (await items()).map(nameOf);
});

const nameOf = ({ kind, id }: Item) => `${kind} ${id}`;
const items = async (): Promise<Item[]> => (await world.api.get('/v1/admin/attention')).body.items;
/** The items caused by this test; a second account sees none of them. */
async function added(): Promise<Item[]> {
  const stranger = world.as((await newAccount(world.dataSource)).key);
  expect((await stranger.get('/v1/admin/attention')).body).toEqual({ items: [] });
  return (await items()).filter((item) => !before.includes(nameOf(item)));
}

/** Calls one after the other, until all are recorded. */
async function call(client: ProxyClient, times: number, recorded: number, user?: string): Promise<void> {
  const headers = user === undefined ? [] : ['x-end-user-id', user];
  for (let time = 0; time < times; time++) await client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers });
  await client.events(recorded);
}

async function replace(appId: string, changes: { status?: string; limits?: object }): Promise<void> {
  const { name, config, revision } = (await world.api.get(`/v1/admin/apps/${appId}`)).body.app;
  const { status, limits = config.limits } = changes;
  const answer = await world.api.put(`/v1/admin/apps/${appId}`, {
    ...{ name, revision, config: { ...config, limits } },
    ...(status === undefined ? {} : { status }),
  });
  expect(answer.status).toBe(200);
}

it('nothing, or calls that succeed → nothing needs attention', async () => {
  const client = await ProxyClient.create(world);
  world.upstream.script(PRICED);
  await call(client, 3, 3);
  expect(await added()).toEqual([]);
});

it('a provider fails three times in a row → listed; after a success, or a change of the provider → no longer listed', async () => {
  const client = await ProxyClient.create(world);
  world.upstream.script(FAILED);
  await call(client, 2, 2);
  expect(await added()).toEqual([]);
  await call(client, 1, 3);
  const failing = { kind: 'provider_failing', id: client.providerId, count: 3, app_id: null, amount_usd: null };
  expect(await added()).toMatchObject([failing]);
  world.upstream.script(PRICED);
  await call(client, 1, 4);
  expect(await added()).toEqual([]);
  world.upstream.script(FAILED);
  await call(client, 4, 8);
  expect(await added()).toMatchObject([{ ...failing, count: 4 }]);
  const provider = `/v1/admin/providers/${client.providerId}`;
  expect((await world.api.put(provider, { status: 'disabled' })).status).toBe(200);
  expect(await added()).toEqual([]);
  expect((await world.api.put(provider, { status: 'active' })).status).toBe(200);
  expect(await added()).toEqual([]);
});

it('errors of one model with successes of another in between → the provider is not failing', async () => {
  const client = await ProxyClient.create(world);
  for (let time = 0; time < 3; time++) {
    world.upstream.script(FAILED);
    await call(client, 1, 2 * time + 1);
    world.upstream.script(PRICED);
    await client.call('v1/responses', { body: { model: 'gpt-4.1-mini' } });
    await client.events(2 * time + 2);
  }
  expect(await added()).toEqual([]);
});

it('80 % of the budget of an application is spent → listed; with a larger budget, none, or a disabled application → not', async () => {
  const budget = (monthly_usd: number | null) => ({ per_app: { spending: { monthly_usd } } });
  const client = await ProxyClient.create(world, { limits: budget(usd(5)) });
  const ofApp = { kind: 'app_budget', id: client.appId, app_id: client.appId };
  world.upstream.script(PRICED);
  await call(client, 3, 3);
  expect(await added()).toEqual([]);
  await call(client, 1, 4);
  expect(await added()).toMatchObject([{ ...ofApp, amount_usd: usd(4), budget_usd: usd(5) }]);
  for (const monthly_usd of [usd(6), 0, null]) {
    await replace(client.appId, { limits: budget(monthly_usd) });
    expect(await added()).toEqual([]);
  }
  await replace(client.appId, { limits: budget(usd(4)) });
  expect(await added()).toMatchObject([ofApp]);
  await replace(client.appId, { status: 'disabled' });
  expect(await added()).toEqual([]);
});

it('users have spent 80 % of theirs → counted; blocked users, or users with a larger budget → not', async () => {
  const client = await ProxyClient.create(world, {
    authentication: NAMED_USERS,
    limits: { per_user: { spending: { monthly_usd: usd(2) } } },
  });
  world.upstream.script(PRICED);
  await call(client, 1, 1, 'frugal');
  expect(await added()).toEqual([]);
  await call(client, 2, 3, 'spender/1');
  await call(client, 2, 5, 'spender-2');
  const near = { kind: 'user_budgets', id: client.appId, amount_usd: usd(2), budget_usd: usd(2) };
  expect(await added()).toMatchObject([{ ...near, count: 2 }]);
  await world.api.post(`/v1/admin/apps/${client.appId}/user/block?user_id=spender%2F1`);
  expect(await added()).toMatchObject([{ ...near, count: 1 }]);
  await replace(client.appId, { limits: { per_user: { spending: { monthly_usd: usd(3) } } } });
  expect(await added()).toEqual([]);
});

it('budgets by day, week and in total → each listed with its window; users by day and week', async () => {
  const spending = { daily_usd: usd(1), weekly_usd: usd(1.2), monthly_usd: usd(9) };
  const client = await ProxyClient.create(world, {
    authentication: NAMED_USERS,
    limits: { per_user: { spending }, per_app: { spending: { ...spending, total_usd: usd(1.1) } } },
  });
  world.upstream.script(PRICED);
  await call(client, 1, 1, 'ann');
  const found = await added();
  const of = (kind: string, window: string, calls: number) =>
    expect.objectContaining({ kind, window, id: client.appId, amount_usd: usd(1), budget_usd: usd(calls), count: 1 });
  expect(found).toHaveLength(5);
  expect(found).toEqual(
    expect.arrayContaining([
      ...[of('app_budget', 'day', 1), of('app_budget', 'week', 1.2), of('app_budget', 'total', 1.1)],
      ...[of('user_budgets', 'day', 1), of('user_budgets', 'week', 1.2)],
    ]),
  );
});

it('a cost is unresolved → listed with its estimate; settled → no longer listed', async () => {
  const client = await ProxyClient.create(world);
  world.upstream.script(WITHOUT_USAGE);
  await call(client, 2, 2);
  const [item] = await added();
  expect(item).toMatchObject({ kind: 'unresolved_costs', id: client.appId, count: 2, budget_usd: null });
  expect(item).toHaveProperty('amount_usd', expect.any(Number));
  const settled = await world.api.post(`/v1/admin/apps/${client.appId}/usage/settle-estimates`, {
    ...{ month: new Date().toISOString().slice(0, 7), cost: 'zero', apply: true },
  });
  expect(settled.status).toBe(200);
  expect(await added()).toEqual([]);
});

it('a key of an application is not used for 90 days → listed; used, new, expired or revoked → not', async () => {
  const { id: appId } = await world.app();
  const [{ id }] = (await world.api.get(`/v1/admin/apps/${appId}/keys`)).body.keys;
  const setTimes = (created: string, used: string | null) =>
    world.dataSource.query(
      `UPDATE app_keys SET created_at = now() - $2::interval, last_used_at = now() - $3::interval WHERE id = $1`,
      [id, created, used],
    );
  const unused = { kind: 'unused_app_key', id, app_id: appId };
  for (const [created, used, expected] of [
    ['89 days', null, []],
    ['91 days', null, [unused]],
    ['200 days', '89 days', []],
    ['200 days', '91 days', [unused]],
  ] as const) {
    await setTimes(created, used);
    expect(await added()).toMatchObject(expected);
    expect(await added()).toHaveLength(expected.length);
  }
  const expire = (when: string) =>
    world.dataSource.query('UPDATE app_keys SET expires_at = now() + $2::interval WHERE id = $1', [id, when]);
  await expire('-1 day');
  expect(await added()).toEqual([]);
  await expire('1 day');
  expect(await added()).toMatchObject([unused]);
  await replace(appId, { status: 'disabled' });
  expect(await added()).toEqual([]);
  await replace(appId, { status: 'active' });
  expect(await added()).toMatchObject([unused]);
  await world.api.post(`/v1/admin/apps/${appId}/keys/${id}/revoke`);
  expect(await added()).toEqual([]);
});

it('a management key was last used 90 days ago → listed; never recorded, expired or revoked → not', async () => {
  const organizationId = await firstOrganizationId(world.dataSource);
  const id = 'mkey_of_attention';
  await world.dataSource.query(
    `INSERT INTO management_keys
       (id, organization_id, identity_id, name, token_hash, token_hint, access_grant, source, created_at)
     SELECT $1, organization_id, identity_id, 'Old', 'hash of attention', 'abcd', 'read', 'console', now() - interval '1 year'
     FROM memberships WHERE organization_id = $2 LIMIT 1`,
    [id, organizationId],
  );
  const set = (changes: string) => world.dataSource.query(`UPDATE management_keys SET ${changes} WHERE id = $1`, [id]);
  expect(await added()).toEqual([]);
  const unused = { kind: 'unused_management_key', id, name: 'Old', app_id: null };
  for (const [changes, expected] of [
    ["last_used_at = now() - interval '91 days'", [unused]],
    ["last_used_at = now() - interval '89 days'", []],
    ["last_used_at = now() - interval '91 days', expires_at = now() - interval '1 day'", []],
    ["expires_at = now() + interval '1 day'", [unused]],
    ['revoked_at = now()', []],
  ] as const) {
    await set(changes);
    expect(await added()).toMatchObject(expected);
    expect(await added()).toHaveLength(expected.length);
  }
});
