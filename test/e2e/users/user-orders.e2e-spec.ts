import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppRef } from '../../../src/app-directory/app.entity.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { useApp } from '../../support/users/users.js';
import { startWorld, type World } from '../../support/world.js';

const MONTH = '2026-02';
const NAMED_USERS = { type: 'api_key', end_user: { source: 'header' } };
const CENT_NANO_USD = 10_000_000;
/** 1000 × 2 and 300 × 8 dollars per million tokens. */
const CALL_USD = 0.0044;

let world: World;
let app: AppRef;

beforeAll(async () => {
  world = await startWorld();
});

beforeEach(() => newApp());

afterAll(() => world.stop());

async function newApp(monthlyUsd?: number): Promise<void> {
  const limits = monthlyUsd === undefined ? undefined : { per_user: { spending: { monthly_usd: monthlyUsd } } };
  const { id } = await world.app({ authentication: NAMED_USERS, ...(limits && { limits }) });
  app = { id, organizationId: await firstOrganizationId(world.dataSource) };
}

/** Stores the cost of a user, and the additional estimate. Nothing: seen only. */
async function spend(id: string, cents: number, estimatedCents = 0, month = MONTH): Promise<void> {
  await useApp(world.dataSource, app, id, { firstAt: `${month}-03T00:00:00Z` });
  const amounts = [app.id, id, month, cents * CENT_NANO_USD, estimatedCents * CENT_NANO_USD];
  await world.dataSource.query(
    `UPDATE usage_user_months SET cost_nano_usd = $4, estimated_nano_usd = $5
     WHERE app_id = $1 AND user_id = $2 AND month = to_date($3, 'YYYY-MM')`,
    amounts,
  );
  if (cents + estimatedCents === 0) return;
  await world.dataSource.query(
    `INSERT INTO budget_periods (app_id, scope, subject, window_name, period_start, organization_id, spent_nano_usd,
       estimated_nano_usd)
     VALUES ($1, 'user', $2, 'month', to_date($3, 'YYYY-MM'), $6, $4::bigint + $5::bigint, $5)`,
    [...amounts, app.organizationId],
  );
}

const list = async (query: Record<string, string | number>) =>
  (await world.api.get(`/v1/admin/apps/${app.id}/users?${new URLSearchParams({ month: MONTH, ...toTexts(query) })}`))
    .body;
const toTexts = (query: Record<string, string | number>) =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]));
const idsOf = ({ users }: { users: { id: string }[] }) => users.map(({ id }) => id);

/** The ids of every page, by the cursors; `between` runs before each page but the first. */
async function walk(query: Record<string, string | number>, between?: () => Promise<void>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: { users: { id: string }[]; next_cursor: string | null } = await list({
      ...query,
      ...(cursor && { cursor }),
    });
    ids.push(...idsOf(page));
    cursor = page.next_cursor;
    if (cursor !== null) await between?.();
  } while (cursor !== null);
  return ids;
}

describe('users sorted by an amount', () => {
  beforeEach(async () => {
    await newApp(5);
    // Equal amounts, similar ones, estimates that change the order, and users without an amount.
    await spend('cc', 500);
    await spend('aa', 500);
    await spend('bb', 499);
    await spend('estimated', 100, 420);
    await spend('small', 0, 3);
    await spend('zero', 0);
    await spend('none', 0);
    await spend('elsewhen', 900, 0, '2026-01');
    const other = app;
    await newApp();
    await spend('of another application', 700);
    app = other;
  });

  const BY_COST = ['aa', 'cc', 'bb', 'estimated', 'elsewhen', 'none', 'small', 'zero'];
  const BY_BUDGET = ['estimated', 'aa', 'cc', 'bb', 'small', 'elsewhen', 'none', 'zero'];

  it.each([
    ['cost', BY_COST],
    ['budget', BY_BUDGET],
  ])('%s → the largest first, equal ones by id, each user once on pages of any length', async (sort, order) => {
    for (const limit of [1, 2, 3, 4, 7, 8, 9]) expect(await walk({ sort, limit })).toEqual(order);
    expect((await list({ sort })).total).toBe(order.length);
    // A filter is read another way.
    for (const limit of [1, 3, 9]) expect(await walk({ sort, limit, status: 'active' })).toEqual(order);
    expect(await walk({ sort, limit: 1, query: 'e' })).toEqual(order.filter((id) => id.includes('e')));
    expect(await walk({ sort, limit: 2, month: '2026-01' })).toEqual([
      'elsewhen',
      ...order.filter((id) => id !== 'elsewhen').sort(),
    ]);
  });

  it('recent → cursors give the same pages as offsets', async () => {
    const order = idsOf(await list({ limit: 200 }));
    for (const limit of [1, 2, 3, 5, 8]) expect(await walk({ limit })).toEqual(order);
    expect(await walk({ limit: 2, at_limit: 'true' })).toEqual(
      order.filter((id) => ['aa', 'cc', 'estimated'].includes(id)),
    );
  });

  it('a user becomes the most expensive between two pages → everybody else is still listed once', async () => {
    let calls = 0;
    const ids = await walk({ sort: 'cost', limit: 2 }, async () => {
      if (++calls === 1)
        await world.dataSource.query(
          "UPDATE usage_user_months SET cost_nano_usd = 9e9 WHERE app_id = $1 AND user_id = 'zero'",
          [app.id],
        );
    });
    expect(ids).toEqual(BY_COST.filter((id) => id !== 'zero'));
  });

  it('at_limit → users who have spent the budget, estimates included, in each order; the total is their number', async () => {
    for (const [sort, ids] of [
      ['cost', ['aa', 'cc', 'estimated']],
      ['budget', ['estimated', 'aa', 'cc']],
    ] as const) {
      const page = await list({ sort, at_limit: 'true' });
      expect([idsOf(page), page.total, page.monthly_budget_usd]).toEqual([ids, 3, 5]);
      expect(page.users.every((user: { at_limit: boolean }) => user.at_limit)).toBe(true);
      expect(await walk({ sort, limit: 1, at_limit: 'true' })).toEqual(ids);
    }
    expect((await list({ at_limit: 'true', query: 'a' })).total).toBe(2);
    expect((await list({ at_limit: 'true', status: 'blocked' })).total).toBe(0);
    const [estimated, , , bb] = (await list({ sort: 'budget' })).users;
    expect(estimated).toMatchObject({
      at_limit: true,
      budget_spent_usd: 5.2,
      usage: { cost_usd: 1, estimated_cost_usd: 4.2 },
    });
    expect(bb).toMatchObject({ id: 'bb', at_limit: false, budget_spent_usd: 4.99 });
  });
});

describe('min_budget_percent', () => {
  it.each([
    [84, ['bb', 'cc']],
    [80, ['aa', 'bb', 'cc']],
    [1, ['aa', 'bb', 'cc', 'dd']],
    [100, ['cc']],
  ])('%i → who has spent that part of the budget of the month, in each order', async (percent, ids) => {
    await newApp(5);
    await spend('dd', 5);
    await spend('aa', 400);
    await spend('bb', 300, 120);
    await spend('cc', 500);
    await spend('little', 4);
    for (const sort of ['cost', 'budget', 'recent']) {
      const page = await list({ sort, min_budget_percent: percent });
      expect([idsOf(page).toSorted(), page.total]).toEqual([ids, ids.length]);
      expect((await walk({ sort, limit: 1, min_budget_percent: percent })).toSorted()).toEqual(ids);
    }
    expect((await list({ min_budget_percent: percent, query: 'cc' })).total).toBe(1);
  });

  it.each(['min_budget_percent=0', 'min_budget_percent=101', 'min_budget_percent=80&at_limit=true'])(
    '%s → 400',
    async (query) => {
      expect((await world.api.get(`/v1/admin/apps/${app.id}/users?${query}`)).body.error).toMatchObject({
        ...{ code: 'invalid_request', message: expect.stringContaining('min_budget_percent: ') },
      });
    },
  );
});

it('a budget of zero → every user is at the limit, even without spending', async () => {
  await newApp(0);
  await spend('some', 5);
  await spend('nothing', 0);
  for (const [sort, ids] of [
    ['budget', ['some', 'nothing']],
    ['cost', ['some', 'nothing']],
    ['recent', ['nothing', 'some']],
  ] as const) {
    const page = await list({ sort, at_limit: 'true' });
    expect([idsOf(page), page.total]).toEqual([ids, 2]);
  }
});

it('budgets by day and week → users who have spent one of them now are at the limit, in each order; not in other months', async () => {
  const client = await ProxyClient.create(world, {
    authentication: NAMED_USERS,
    limits: { per_user: { spending: { daily_usd: CALL_USD, weekly_usd: 2 * CALL_USD, monthly_usd: 9 } } },
  });
  app = { id: client.appId, organizationId: app.organizationId };
  world.upstream.script(json(200, { usage: { input_tokens: 1000, output_tokens: 300 } }));
  const call = (user: string) =>
    client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers: ['x-end-user-id', user] });
  await call('by-day');
  await call('by-week');
  await client.events(2);
  const spent = (user: string, window: string, times: number) =>
    world.dataSource.query(
      'UPDATE budget_periods SET spent_nano_usd = $4 WHERE app_id = $1 AND subject = $2 AND window_name = $3',
      [app.id, user, window, Math.round(times * CALL_USD * 1e9)],
    );
  await spent('by-week', 'day', 0.5);
  await spent('by-week', 'week', 2.5);
  await world.dataSource.query(
    `INSERT INTO app_users (id, organization_id, app_id, status, created_at) VALUES ('frugal', $1, $2, 'active', now())`,
    [app.organizationId, app.id],
  );
  const read = async (query: string) => (await world.api.get(`/v1/admin/apps/${app.id}/users?${query}`)).body;
  for (const sort of ['recent', 'cost', 'budget']) {
    const page = await read(`sort=${sort}&at_limit=true`);
    expect([idsOf(page).toSorted(), page.total]).toEqual([['by-day', 'by-week'], 2]);
    const all = await read(`sort=${sort}`);
    const atLimit = all.users.filter((user: { at_limit: boolean }) => user.at_limit);
    expect([idsOf({ users: atLimit }).toSorted(), all.total]).toEqual([['by-day', 'by-week'], 3]);
    expect((await read(`sort=${sort}&at_limit=true&query=week`)).total).toBe(1);
    expect((await read(`sort=${sort}&min_budget_percent=50`)).total).toBe(2);
    expect(await read(`sort=${sort}&at_limit=true&month=2025-12`)).toMatchObject({ total: 0, users: [] });
  }
  const one = await world.api.get(`/v1/admin/apps/${app.id}/users/by-day`);
  expect(one.body.user).toMatchObject({ at_limit: true, budget_spent_usd: CALL_USD });
});

it('no budget, or a configuration that cannot be read → no user is at the limit', async () => {
  await spend('rich', 1_000_000);
  expect(await list({ at_limit: 'true' })).toMatchObject({
    total: 0,
    users: [],
    next_cursor: null,
    monthly_budget_usd: null,
  });
  await world.dataSource.query("UPDATE apps SET config = '{}' WHERE id = $1", [app.id]);
  expect(await list({ at_limit: 'true' })).toMatchObject({ total: 0, users: [] });
  expect(await list({})).toMatchObject({ total: 1, users: [{ id: 'rich', at_limit: false }] });
});

it('calls until the budget refuses → only this user is at the limit; the user shows the remainder', async () => {
  const client = await ProxyClient.create(world, {
    authentication: NAMED_USERS,
    limits: { per_user: { requests: { per_minute: 100, per_day: 9 }, spending: { monthly_usd: 2 * CALL_USD } } },
  });
  app = { id: client.appId, organizationId: app.organizationId };
  world.upstream.script(json(200, { usage: { input_tokens: 1000, output_tokens: 300 } }));
  const call = async (user: string) =>
    (await client.call('v1/responses', { body: { model: 'gpt-4.1' }, headers: ['x-end-user-id', user] })).status;
  const spender = 'a/b%2F?&c';
  expect([await call('frugal'), await call(spender)]).toEqual([200, 200]);
  await client.events(2);
  const atLimit = async () => {
    const { body } = await world.api.get(`/v1/admin/apps/${app.id}/users?sort=budget&at_limit=true`);
    return [idsOf(body), body.total];
  };
  expect(await atLimit()).toEqual([[], 0]);
  expect(await call(spender)).toBe(200);
  await client.events(3);
  expect(await call(spender)).toBe(429);
  expect(await atLimit()).toEqual([[spender], 1]);
  const { body } = await world.api.get(`/v1/admin/apps/${app.id}/user?user_id=${encodeURIComponent(spender)}`);
  expect(body.user).toMatchObject({ id: spender, at_limit: true, budget_spent_usd: 2 * CALL_USD });
  expect(body.limits).toMatchObject({
    requests_today: 2,
    requests_remaining: 7,
    requests_per_minute: 100,
    requests_per_day: 9,
    monthly_cost_usd: 2 * CALL_USD,
    monthly_budget_usd: 2 * CALL_USD,
    blocked: false,
  });
  expect(body.days).toMatchObject([{ cost_usd: 2 * CALL_USD, input_tokens: 2_000 }]);
  const other = await world.api.get(`/v1/admin/apps/${app.id}/user?user_id=frugal&month=2025-12`);
  expect(other.body).toMatchObject({ month: '2025-12', days: [], limits: { requests_remaining: 8 } });
  expect(other.body.user).toMatchObject({ at_limit: false, budget_spent_usd: 0 });
});
