import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppRef } from '../../../src/app-directory/app.entity.js';
import { BlockedUsers } from '../../../src/users/blocked-users.js';
import { UsersService } from '../../../src/users/users.service.js';
import { firstOrganizationId, newAccount, newMember } from '../../support/accounts/accounts.js';
import type { ApiAnswer } from '../../support/api-client.js';
import { FakeClock } from '../../support/clock.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { addDeviceKey, useApp } from '../../support/users/users.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;
const NO_USAGE = {
  requests: 0,
  input_tokens: 0,
  cached_input_tokens: 0,
  cache_write_tokens: 0,
  output_tokens: 0,
  cost_usd: 0,
  estimated_cost_usd: 0,
  errors: 0,
  blocked: 0,
};

/** Of an application without a budget for each user. */
const LAST_PAGE = { next_cursor: null, monthly_budget_usd: null };
const UNLIMITED = { budget_spent_usd: 0, at_limit: false };

const clock = new FakeClock();
let world: World;
let users: UsersService;
let blockedUsers: BlockedUsers;
let app: AppRef;

beforeAll(async () => {
  world = await startWorld({ clock });
  users = world.gateway.app.get(UsersService);
  blockedUsers = world.gateway.app.get(BlockedUsers);
});

afterAll(() => world.stop());

beforeEach(async () => {
  app = { id: (await world.app()).id, organizationId: await firstOrganizationId(world.dataSource) };
});

const usersUrl = (query = '') => `/v1/admin/apps/${app.id}/users${query}`;
const userUrl = (id: string) => usersUrl(`/${encodeURIComponent(id)}`);
const list = (query = '') => world.api.get(usersUrl(query));
const block = (id: string) => world.api.post(`${userUrl(id)}/block`);
const unblock = (id: string) => world.api.post(`${userUrl(id)}/unblock`);
const idsOf = ({ body }: ApiAnswer): string[] => body.users.map((user: { id: string }) => user.id);
const use = (id: string, firstAt: string, lastAt = firstAt) => useApp(world.dataSource, app, id, { firstAt, lastAt });

/** Every user seen now, one minute after the other, so that the last one is listed first. */
async function see(...ids: string[]): Promise<void> {
  for (const id of ids) {
    clock.advance(MINUTE_MS);
    await users.seen(app, id);
  }
}

function outcome({ status, body }: ApiAnswer): unknown[] {
  return [status, body.error?.code ?? body];
}

describe('GET /v1/admin/apps/{app}/users', () => {
  it('no users yet → an empty page of the current month', async () => {
    const month = clock.now().toISOString().slice(0, 7);
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({ app_id: app.id, month, total: 0, limit: 50, offset: 0, ...LAST_PAGE, users: [] });
  });

  it('stored and virtual users → every field, usage of the requested month', async () => {
    await see('alice');
    const seenAt = clock.now().toISOString();
    await addDeviceKey(world.dataSource, app, { userId: 'alice', keyId: 'new+/=', counter: 7, usedAt: '2026-03-01' });
    await addDeviceKey(world.dataSource, app, { userId: 'alice', keyId: 'old', counter: 99, usedAt: '2026-02-01' });
    await use('alice', '2026-02-03T04:05:06.000Z');
    await use('bob', '2026-01-30T10:00:00.000Z', '2026-01-31T10:00:00.000Z');
    await use('bob', '2026-02-01T10:00:00.000Z', '2026-02-02T10:00:00.000Z');
    const { body } = await list('?month=2026-02');
    const usage = { ...NO_USAGE, requests: 1, input_tokens: 10, output_tokens: 5, cost_usd: 0.0025 };
    expect(body).toEqual({
      app_id: app.id,
      month: '2026-02',
      total: 2,
      limit: 50,
      offset: 0,
      ...LAST_PAGE,
      users: [
        {
          id: 'alice',
          status: 'active',
          attest_key_id: 'new+/=',
          attest_registered: true,
          attest_counter: 7,
          created_at: seenAt,
          last_seen_at: seenAt,
          is_virtual: false,
          usage,
          ...UNLIMITED,
        },
        {
          id: 'bob',
          status: 'active',
          attest_key_id: null,
          attest_registered: false,
          attest_counter: 0,
          created_at: '2026-01-30T10:00:00.000Z',
          last_seen_at: '2026-02-02T10:00:00.000Z',
          is_virtual: true,
          usage,
          ...UNLIMITED,
        },
      ],
    });
    expect((await list('?month=2025-12')).body.users[0].usage).toEqual(NO_USAGE);
  });

  it('order → by last seen, else creation, latest first; equal ones by id; pages without gaps', async () => {
    await see('early', 'middle');
    await users.openClaimWindow(app, 'waiting');
    await users.seen(app, 'b');
    await users.seen(app, 'a');
    await see('late');
    await use('virtual', '2026-01-01T00:00:00Z', new Date(clock.nowMs() + 1).toISOString());
    const order = ['virtual', 'late', 'a', 'b', 'middle', 'waiting', 'early'];
    const { body } = await list();
    expect(body.users.map((user: { id: string }) => user.id)).toEqual(order);
    expect(body.users[5]).toMatchObject({ id: 'waiting', last_seen_at: null });
    for (const limit of [1, 2, 3, 4, 7, 8]) {
      for (let offset = 0; offset <= order.length + 1; offset++) {
        const page = await list(`?limit=${limit}&offset=${offset}`);
        expect(idsOf(page)).toEqual(order.slice(offset, offset + limit));
        expect(page.body).toMatchObject({ total: 7, limit, offset });
      }
    }
  });

  it('query → a literal part of the id, wildcards are literal, case matters', async () => {
    await see('a%b', 'a_b', 'axb', 'A%B', String.raw`a\b`);
    const found = async (query: string) => idsOf(await list(`?query=${encodeURIComponent(query)}`));
    expect(await found('%')).toEqual(['A%B', 'a%b']);
    expect(await found('a_')).toEqual(['a_b']);
    expect(await found('\\')).toEqual([String.raw`a\b`]);
    expect(await found('xb')).toEqual(['axb']);
    expect([await found(' '), (await found('')).length]).toEqual([[], 5]);
  });

  it('status → only such users, virtual ones are active; total says how many', async () => {
    await see('alice', 'mallory');
    await use('bob', '2026-01-01T00:00:00Z');
    await block('mallory');
    const blocked = await list('?status=blocked');
    expect([idsOf(blocked), blocked.body.total]).toEqual([['mallory'], 1]);
    const active = await list('?status=active&limit=1');
    expect([idsOf(active), active.body.total]).toEqual([['alice'], 2]);
    expect((await list('?status=blocked&query=ali')).body.total).toBe(0);
  });

  it.each([
    'limit=0',
    'limit=201',
    'limit=x',
    'offset=-1',
    'offset=1.5',
    'month=2026-13',
    'month=',
    'status=gone',
    'status=active&status=blocked',
    'query=%00',
    `query=${'q'.repeat(1025)}`,
    'q=alice',
    'sort=id',
    'sort=',
    'at_limit=1',
    'cursor=',
    'cursor=nonsense',
    'sort=cost&offset=1',
    'sort=cost&cursor=WyJyZWNlbnQiLCIxIiwiYSJd',
    'offset=1&cursor=WyJyZWNlbnQiLCIxIiwiYSJd',
  ])('%s → 400', async (query) => {
    expect(outcome(await list(`?${query}`))).toEqual([400, 'invalid_request']);
  });

  it('limit=200, a huge offset, months before any calendar → answered', async () => {
    expect((await list(`?limit=200&offset=${Number.MAX_SAFE_INTEGER}&month=0000-01`)).body).toMatchObject({
      total: 0,
      users: [],
    });
    await see('alice');
    expect((await list('?offset=999999999999999&month=9999-12')).body).toMatchObject({ total: 1, users: [] });
  });

  it('users of another application → not listed, not found, not counted', async () => {
    await see('alice');
    await use('bob', '2026-01-01T00:00:00Z');
    app = { ...app, id: (await world.app()).id };
    expect((await list()).body.total).toBe(0);
    expect(outcome(await world.api.get(userUrl('alice')))).toEqual([404, 'not_found']);
    expect(outcome(await unblock('bob'))).toEqual([404, 'not_found']);
  });
});

describe('block and unblock', () => {
  it('blocked, repeated, unblocked, repeated → idempotent, effective from the very next admission', async () => {
    await see('mallory');
    expect(await blockedUsers.isBlocked(app, 'mallory')).toBe(false);
    for (const _time of [1, 2]) {
      expect(outcome(await block('mallory'))).toEqual([200, { app_id: app.id, user_id: 'mallory', blocked: true }]);
      expect(await blockedUsers.isBlocked(app, 'mallory')).toBe(true);
    }
    expect((await world.api.get(userUrl('mallory'))).body.user).toMatchObject({ status: 'blocked', is_virtual: false });
    for (const _time of [1, 2]) {
      expect(outcome(await unblock('mallory'))).toEqual([200, { app_id: app.id, user_id: 'mallory', blocked: false }]);
      expect(await blockedUsers.isBlocked(app, 'mallory')).toBe(false);
    }
  });

  it('changes, and repeats without effect → one audit entry for each change', async () => {
    await see('mallory');
    for (const act of [unblock, block, block, unblock]) await act('mallory');
    expect((await unblock('nobody')).status).toBe(404);
    const trail = await world.dataSource.query(
      "SELECT action, target_id FROM audit_events WHERE app_id = $1 AND target_type = 'user' ORDER BY id",
      [app.id],
    );
    expect(trail).toEqual([
      { action: 'user.blocked', target_id: 'mallory' },
      { action: 'user.unblocked', target_id: 'mallory' },
    ]);
  });

  it('a virtual user → blocked and stored, with the time of the first event', async () => {
    await use('bob', '2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z');
    expect(await users.find(app, 'bob')).toBeUndefined();
    expect(outcome(await unblock('bob'))).toEqual([200, { app_id: app.id, user_id: 'bob', blocked: false }]);
    expect((await block('bob')).status).toBe(200);
    expect(await blockedUsers.isBlocked(app, 'bob')).toBe(true);
    expect(await users.find(app, 'bob')).toMatchObject({ status: 'blocked' });
    expect((await users.seen(app, 'bob')).status).toBe('blocked');
    expect((await world.api.get(userUrl('bob'))).body.user).toMatchObject({
      status: 'blocked',
      is_virtual: false,
      created_at: '2026-01-01T00:00:00.000Z',
      last_seen_at: '2026-01-02T00:00:00.000Z',
    });
    await unblock('bob');
    await use('bob', '2026-01-03T00:00:00.000Z');
    expect((await world.api.get(userUrl('bob'))).body.user).toMatchObject({
      status: 'active',
      is_virtual: true,
      last_seen_at: '2026-01-03T00:00:00.000Z',
    });
  });

  it('20 of each at once → all answered, one row; the last one decides', async () => {
    await see('alice');
    await use('bob', '2026-01-01T00:00:00Z');
    for (const id of ['alice', 'bob']) {
      const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => (i % 2 ? block(id) : unblock(id))));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      await block(id);
      expect(await blockedUsers.isBlocked(app, id)).toBe(true);
    }
    expect((await list('?status=blocked')).body.total).toBe(2);
    expect((await list()).body.total).toBe(2);
  });

  it('blocked during their calls → blocked in every later call, and not updated', async () => {
    await see('alice');
    clock.advance(2 * MINUTE_MS);
    const [answer, ...sights] = await Promise.all([
      block('alice'),
      ...Array.from({ length: 20 }, () => users.seen(app, 'alice')),
    ]);
    expect([answer.status, sights.length]).toEqual([200, 20]);
    const before = await users.find(app, 'alice');
    clock.advance(2 * MINUTE_MS);
    expect(await users.seen(app, 'alice')).toEqual(before);
    expect(await world.dataSource.transaction((tx) => users.seenIn(tx, app, 'alice'))).toEqual(before);
    expect(before?.status).toBe('blocked');
  });

  it('a transaction that recorded a user → the block waits for its end', async () => {
    await see('alice');
    const order: string[] = [];
    await world.dataSource.transaction(async (tx) => {
      expect((await users.seenIn(tx, app, 'alice')).status).toBe('active');
      void block('alice').then(() => order.push('blocked'));
      await untilStatementWaits(world.dataSource);
      order.push('transaction ends');
    });
    await block('alice');
    expect(order[0]).toBe('transaction ends');
  });
});

describe('permissions', () => {
  it('an application of another account → the same 404 as one that does not exist', async () => {
    await see('alice');
    const stranger = world.as((await newAccount(world.dataSource)).key);
    for (const path of [usersUrl(), userUrl('alice')]) {
      expect(outcome(await stranger.get(path))).toEqual([404, 'app_not_found']);
    }
    for (const verb of ['block', 'unblock']) {
      expect(outcome(await stranger.post(`${userUrl('alice')}/${verb}`))).toEqual([404, 'app_not_found']);
    }
    expect(await blockedUsers.isBlocked(app, 'alice')).toBe(false);
  });

  it.each([
    ['a member', { role: 'member' }, 'forbidden'],
    ['a key that may only read', { role: 'owner', grant: 'read' }, 'grant_insufficient'],
  ] as const)('%s → may read, but not block or unblock', async (_who, options, code) => {
    await see('alice');
    const reader = world.as((await newMember(world.dataSource, app.organizationId, options)).key);
    expect((await reader.get(usersUrl())).status).toBe(200);
    expect((await reader.get(userUrl('alice'))).status).toBe(200);
    expect(outcome(await reader.post(`${userUrl('alice')}/block`))).toEqual([403, code]);
    expect(outcome(await reader.post(`${userUrl('nobody')}/unblock`))).toEqual([403, code]);
  });

  it('no credential → 401', async () => {
    expect(outcome(await world.as(undefined).get(usersUrl()))).toEqual([401, 'auth_required']);
  });
});
