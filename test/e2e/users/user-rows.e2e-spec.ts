import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppRef } from '../../../src/app-directory/app.entity.js';
import { Secret } from '../../../src/common/log/secret.js';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { UsageRecorder } from '../../../src/usage/recording/usage-recorder.service.js';
import { BlockedUsers } from '../../../src/users/blocked-users.js';
import { UsersRepository } from '../../../src/users/users.repository.js';
import { AppUsers, UsersService } from '../../../src/users/users.service.js';
import { firstOrganizationId, newAccount } from '../../support/accounts/accounts.js';
import { FakeClock } from '../../support/clock.js';
import { eventually } from '../../support/eventually.js';
import { untilStatementWaits } from '../../support/platform/lock-waits.js';
import { addDeviceKey, useApp } from '../../support/users/users.js';
import { startWorld, type World } from '../../support/world.js';

const MINUTE_MS = 60_000;

const clock = new FakeClock();
let world: World;
let users: UsersService;
let app: AppRef;

beforeAll(async () => {
  world = await startWorld({ clock });
  users = world.gateway.app.get(UsersService);
});

afterAll(() => world.stop());

beforeEach(async () => {
  app = { id: (await world.app()).id, organizationId: await firstOrganizationId(world.dataSource) };
});

const use = (id: string, firstAt: string, lastAt = firstAt) => useApp(world.dataSource, app, id, { firstAt, lastAt });

async function rowOf(id: string): Promise<Record<string, unknown>> {
  const [row] = await world.dataSource.query(
    'SELECT *, xmin::text AS version FROM app_users WHERE app_id = $1 AND id = $2',
    [app.id, id],
  );
  return row;
}

const block = (id: string) => world.api.post(`/v1/admin/apps/${app.id}/users/${id}/block`);

describe('a user who exchanges a proof', () => {
  it('many first calls at once → one row, the same answer for all', async () => {
    const sights = await Promise.all(Array.from({ length: 20 }, () => users.seen(app, 'alice')));
    const alice = { id: 'alice', status: 'active', lastSeenAt: clock.now(), claimPendingSince: null };
    for (const sight of sights) expect(sight).toEqual(alice);
    expect(await users.find(app, 'alice')).toEqual(alice);
    expect(await rowOf('alice')).toMatchObject({ created_at: clock.now(), is_virtual: false });
  });

  it('seen again → written once a minute', async () => {
    await users.seen(app, 'alice');
    const first = await rowOf('alice');
    clock.advance(MINUTE_MS - 1);
    await users.seen(app, 'alice');
    expect(await rowOf('alice')).toEqual(first);
    await world.dataSource.transaction((tx) => users.seenIn(tx, app, 'alice'));
    expect(await rowOf('alice')).toMatchObject({ last_seen_at: first.last_seen_at });
    clock.advance(1);
    expect((await users.seen(app, 'alice')).lastSeenAt).toEqual(clock.now());
    expect(await rowOf('alice')).toMatchObject({ created_at: first.created_at, last_seen_at: clock.now() });
  });

  it('seen in a transaction that fails → not stored', async () => {
    const failing = world.dataSource.transaction(async (tx) => {
      expect((await users.seenIn(tx, app, 'alice')).status).toBe('active');
      throw new Error('no device');
    });
    await expect(failing).rejects.toThrow('no device');
    expect(await users.find(app, 'alice')).toBeUndefined();
  });

  it('a virtual user → stored from then on, dated from their first event', async () => {
    await use('bob', '2026-01-01T00:00:00Z');
    expect(await users.find(app, 'bob')).toBeUndefined();
    expect(await users.seen(app, 'bob')).toMatchObject({ status: 'active', lastSeenAt: clock.now() });
    expect(await rowOf('bob')).toMatchObject({ is_virtual: false, created_at: new Date('2026-01-01T00:00:00Z') });
  });

  it('same id in another account’s application → another user', async () => {
    await users.seen(app, 'alice');
    expect(await users.find({ ...app, organizationId: 'somebody-else' }, 'alice')).toBeUndefined();
    await expect(users.seen({ ...app, organizationId: 'somebody-else' }, 'eve')).rejects.toMatchObject({
      code: 'app_not_found',
    });
  });
});

describe('a window of missing claims', () => {
  it('opened at the first refusal → user stored as not seen; not opened again; closed by exactly one call', async () => {
    await users.openClaimWindow(app, 'alice');
    const openedAt = clock.now();
    expect(await users.find(app, 'alice')).toMatchObject({ lastSeenAt: null, claimPendingSince: openedAt });
    clock.advance(5_000);
    await users.openClaimWindow(app, 'alice');
    expect(await users.countClaimPending(app)).toBe(1);
    clock.advance(2_500);
    expect(await users.seen(app, 'alice')).toMatchObject({ claimPendingSince: openedAt });
    let delays: Promise<(number | null)[]> | undefined;
    await world.dataSource.transaction(async (tx) => {
      await users.seenIn(tx, app, 'alice');
      delays = Promise.all([1, 2, 3, 4].map(() => users.closeClaimWindow(app, 'alice')));
      await untilStatementWaits(world.dataSource, '', 4);
    });
    expect((await delays)?.filter((delay) => delay !== null)).toEqual([7_500]);
    expect(await users.countClaimPending(app)).toBe(0);
    expect(await users.closeClaimWindow(app, 'nobody')).toBeNull();
  });

  it('blocked user → no window; an open one ends with the block', async () => {
    await users.seen(app, 'mallory');
    await block('mallory');
    await users.openClaimWindow(app, 'mallory');
    expect(await users.find(app, 'mallory')).toMatchObject({ status: 'blocked', claimPendingSince: null });
    await users.openClaimWindow(app, 'alice');
    await block('alice');
    expect(await users.countClaimPending(app)).toBe(0);
    expect(await users.closeClaimWindow(app, 'alice')).toBeNull();
  });
});

describe('another instance', () => {
  it('user blocked → known within a second, even with a fresh cache', async () => {
    await users.seen(app, 'mallory');
    const trouble: unknown[] = [];
    const changes = new ConfigChanges({
      url: new Secret(world.databaseUrl),
      onTrouble: (error) => trouble.push(error),
    });
    const other = new BlockedUsers(world.gateway.app.get(UsersRepository), changes, clock);
    try {
      changes.open();
      await eventually(() => changes.connected, { withinMs: 10_000 });
      expect(await other.isBlocked(app, 'mallory')).toBe(false);
      await block('mallory');
      await eventually(async () => other.isBlocked(app, 'mallory'), { withinMs: 10_000 });
    } finally {
      await changes.close();
    }
    expect(trouble).toEqual([]);
  });
});

describe('a user known from usage only', () => {
  it('named in a header of a real call → a virtual user', async () => {
    const { slug } = await world.provider({ slug: 'users-openai' });
    const { id, key } = await world.app({ authentication: { type: 'api_key', end_user: { source: 'header' } } });
    const answer = await fetch(`${world.baseUrl}/v1/apps/${id}/proxy/${slug}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-end-user-id': 'team/ann+1' },
      body: JSON.stringify({ model: 'gpt-4.1', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.text();
    await world.gateway.app.get(UsageRecorder).flush();
    const { body } = await world.api.get(`/v1/admin/apps/${id}/users`);
    expect(body.users).toEqual([expect.objectContaining({ id: 'team/ann+1', is_virtual: true, status: 'active' })]);
    expect(body.users[0].usage.requests).toBe(1);
  });

  it('used again → last seen is updated at most once a minute; first seen can move back', async () => {
    await use('bob', '2026-01-10T00:00:00Z');
    const first = await rowOf('bob');
    await use('bob', '2026-01-10T00:00:59Z');
    expect(await rowOf('bob')).toEqual(first);
    await use('bob', '2026-01-10T00:01:00Z');
    expect(await rowOf('bob')).toMatchObject({ last_seen_at: new Date('2026-01-10T00:01:00Z') });
    await use('bob', '2025-12-31T23:00:00Z');
    expect(await rowOf('bob')).toMatchObject({
      created_at: new Date('2025-12-31T23:00:00Z'),
      last_seen_at: new Date('2026-01-10T00:01:00Z'),
    });
  });

  it('several users and months in one statement → one row each', async () => {
    await world.dataSource.query(
      `INSERT INTO usage_user_months
       SELECT $1, $2, id, month, 1, 0, 0, 0, 0, 0, 0, 0, month, month + interval '1 day', month, 1
       FROM unnest(ARRAY['a', 'b', 'c']) id, unnest(ARRAY['2026-01-01', '2026-02-01']::date[]) month`,
      [app.organizationId, app.id],
    );
    for (const id of ['a', 'b', 'c']) {
      expect(await rowOf(id)).toMatchObject({
        created_at: new Date('2026-01-01T00:00:00Z'),
        last_seen_at: new Date('2026-02-02T00:00:00Z'),
        is_virtual: true,
      });
    }
  });

  it('stored or blocked user → usage does not change them', async () => {
    await users.seen(app, 'alice');
    await use('bob', '2026-01-01T00:00:00Z');
    await block('bob');
    const before = [await rowOf('alice'), await rowOf('bob')];
    await use('alice', '2020-01-01T00:00:00Z', '2040-01-01T00:00:00Z');
    await use('bob', '2020-01-01T00:00:00Z', '2040-01-01T00:00:00Z');
    expect([await rowOf('alice'), await rowOf('bob')]).toEqual(before);
  });

  it('application being deleted → its usage is stored without waiting for the end', async () => {
    const runner = world.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT FROM apps WHERE id = $1 FOR UPDATE', [app.id]);
    await use('bob', '2026-01-01T00:00:00Z');
    expect(await rowOf('bob')).toBeUndefined();
    await runner.rollbackTransaction();
    await runner.release();
    await use('bob', '2026-01-01T00:00:30Z');
    expect(await rowOf('bob')).toMatchObject({ created_at: new Date('2026-01-01T00:00:00Z') });
  });

  it('blocked at the moment of a call → no deadlock, blocked afterwards', async () => {
    await use('bob', '2026-01-01T00:00:00Z');
    await Promise.all(
      Array.from({ length: 30 }, (_, second) => [
        use('bob', `2026-01-01T01:${String(second).padStart(2, '0')}:00Z`),
        users.seen(app, 'bob'),
        block('bob'),
      ]).flat(),
    );
    expect(await users.seen(app, 'bob')).toMatchObject({ status: 'blocked' });
  });
});

describe('counts of users', () => {
  it('list of applications → all users, virtual ones included, and the blocked ones', async () => {
    for (const id of ['alice', 'mallory']) await users.seen(app, id);
    await use('bob', '2026-01-01T00:00:00Z');
    await block('mallory');
    const { apps } = (await world.api.get('/v1/admin/apps')).body;
    const mine = apps.find((one: { id: string }) => one.id === app.id);
    expect(mine.users).toEqual({ total: 3, blocked: 1 });
    const counts = await world.gateway.app
      .get(AppUsers)
      .countsByApp((await newAccount(world.dataSource)).organizationId, [app.id]);
    expect(counts.size).toBe(0);
  });

  it('application deleted → its stored users are deleted and counted, with their devices', async () => {
    for (const id of ['alice', 'mallory']) await users.seen(app, id);
    await addDeviceKey(world.dataSource, app, { userId: 'alice', keyId: 'k', counter: 1, usedAt: '2026-01-01' });
    await use('bob', '2026-01-01T00:00:00Z');
    await use('carol', '2026-01-01T00:00:00Z');
    await block('bob');
    const { body } = await world.api.delete(`/v1/admin/apps/${app.id}?confirm=${app.id}`);
    expect(body).toEqual({ deleted: true, app_id: app.id, removed_users: 3, usage_events_retained: true });
    const [left] = await world.dataSource.query(
      `SELECT (SELECT count(*)::integer FROM app_users WHERE app_id = $1) AS users,
         (SELECT count(*)::integer FROM device_keys WHERE app_id = $1) AS keys,
         (SELECT count(*)::integer FROM usage_user_months WHERE app_id = $1) AS months`,
      [app.id],
    );
    expect(left).toEqual({ users: 0, keys: 0, months: 2 });
    await use('late', '2026-01-01T00:00:00Z');
    await expect(users.seen(app, 'late')).rejects.toMatchObject({ code: 'app_not_found' });
    await users.openClaimWindow(app, 'late');
    expect(await users.find(app, 'late')).toBeUndefined();
  });
});
