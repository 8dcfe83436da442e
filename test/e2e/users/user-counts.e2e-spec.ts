import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { KeepUserCounts1763600000019 } from '../../../migrations/1763600000019-keep-user-counts.js';
import type { AppRef } from '../../../src/app-directory/app.entity.js';
import { UsersService } from '../../../src/users/users.service.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { startWorld, type World } from '../../support/world.js';

const AT_ONCE = 8;
const USED_AT = '2026-01-01T00:00:00Z';

let world: World;
let users: UsersService;
let organizationId: string;
let app: AppRef;

beforeAll(async () => {
  world = await startWorld({});
  users = world.gateway.app.get(UsersService);
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(() => world.stop());

beforeEach(async () => {
  app = await newApp();
});

async function newApp(): Promise<AppRef> {
  return { id: (await world.app()).id, organizationId };
}

const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

/** Usage of many users of several applications, in one statement as the store of usage writes it. */
function useTogether(apps: readonly AppRef[], userIds: readonly string[]): Promise<unknown> {
  return world.dataSource.query(
    `INSERT INTO usage_user_months AS known
     SELECT $1, app, person, '2026-01-01', 1, 10, 0, 0, 5, 2500000, 0, 0, $4, $4, '2026-01-01', 1
     FROM unnest($2::text[]) app, unnest($3::text[]) person
     ON CONFLICT (app_id, user_id, month) DO UPDATE SET requests = known.requests + 1`,
    [organizationId, apps.map(({ id }) => id), userIds, USED_AT],
  );
}

function setBlocked(userId: string, isBlocked: boolean) {
  return world.api.post(`/v1/admin/apps/${app.id}/users/${userId}/${isBlocked ? 'block' : 'unblock'}`);
}

/** The counts in pages and in the list of applications. */
async function answered({ id }: AppRef = app): Promise<{ total: number; blocked: number; active: number }> {
  const totalOf = async (query: string) => (await world.api.get(`/v1/admin/apps/${id}/users?${query}`)).body.total;
  const { apps } = (await world.api.get('/v1/admin/apps')).body;
  const { users: counts } = apps.find((one: { id: string }) => one.id === id);
  const [total, blocked, active] = [
    await totalOf('limit=1'),
    await totalOf('status=blocked'),
    await totalOf('status=active'),
  ];
  expect(counts).toEqual({ total, blocked });
  return { total, blocked, active };
}

/** The same, counted one by one. */
async function counted({ id }: AppRef = app): Promise<{ total: number; blocked: number; active: number }> {
  const [row] = await world.dataSource.query(
    `SELECT count(*)::integer AS total, (count(*) FILTER (WHERE status = 'blocked'))::integer AS blocked,
       (count(*) FILTER (WHERE status = 'active'))::integer AS active FROM app_users WHERE app_id = $1`,
    [id],
  );
  return row;
}

async function countRows({ id }: AppRef = app): Promise<number> {
  const rows: unknown[] = await world.dataSource.query('SELECT FROM app_user_counts WHERE app_id = $1', [id]);
  return rows.length;
}

describe('stored counts of users match the users', () => {
  it('no user → zero', async () => {
    expect(await answered()).toEqual({ total: 0, blocked: 0, active: 0 });
  });

  it('registered, seen again, used, blocked and unblocked all at once → counted once each', async () => {
    const people = numbers(60).map((index) => `user-${index}`);
    await Promise.all([
      ...people.flatMap((id) => [users.seen(app, id), users.seen(app, id)]),
      ...numbers(AT_ONCE).map((index) => useTogether([app], people.slice(index * 5, 90).concat(`virtual-${index}`))),
    ]);
    expect(await answered()).toEqual({ total: 60 + AT_ONCE, blocked: 0, active: 60 + AT_ONCE });
    const changes = numbers(90).map((index) => ({ id: `user-${index % 30}`, isBlocked: index % 4 < 2 }));
    await Promise.all(changes.map(({ id, isBlocked }) => setBlocked(id, isBlocked)));
    const counts = await counted();
    expect(counts.total).toBe(60 + AT_ONCE);
    expect(await answered()).toEqual(counts);
    await Promise.all(people.slice(0, 30).map((id) => setBlocked(id, true)));
    expect(await answered()).toEqual({ total: 60 + AT_ONCE, blocked: 30, active: 30 + AT_ONCE });
  });

  it('a transaction that fails → counts nothing', async () => {
    await users.seen(app, 'alice');
    const failing = world.dataSource.transaction(async (tx) => {
      await users.seenIn(tx, app, 'bob');
      throw new Error('no device');
    });
    await expect(failing).rejects.toThrow('no device');
    expect(await answered()).toEqual({ total: 1, blocked: 0, active: 1 });
  });

  it('first uses of several applications in one statement → each has its own count', async () => {
    const other = await newApp();
    await users.seen(app, 'alice');
    await useTogether([app, other], ['alice', 'bob', 'carol']);
    expect(await answered()).toEqual({ total: 3, blocked: 0, active: 3 });
    expect(await answered(other)).toEqual({ total: 3, blocked: 0, active: 3 });
  });

  it('users deleted in the database → no longer counted', async () => {
    for (const id of ['alice', 'bob', 'carol']) await users.seen(app, id);
    await setBlocked('bob', true);
    await world.dataSource.query("DELETE FROM app_users WHERE app_id = $1 AND id IN ('alice', 'bob')", [app.id]);
    expect(await answered()).toEqual({ total: 1, blocked: 0, active: 1 });
  });

  it('application deleted → nothing is left', async () => {
    for (const id of ['alice', 'bob']) await users.seen(app, id);
    expect((await world.api.delete(`/v1/admin/apps/${app.id}?confirm=${app.id}`)).status).toBe(200);
    expect([await countRows(), await counted()]).toEqual([0, { total: 0, blocked: 0, active: 0 }]);
  });

  it('a filter on the id → counts the users that match', async () => {
    for (const id of ['alice', 'alina', 'bob']) await users.seen(app, id);
    const { body } = await world.api.get(`/v1/admin/apps/${app.id}/users?query=ali&limit=1`);
    expect([body.total, body.users.length]).toEqual([2, 1]);
  });
});

describe('counting waits for no lock', () => {
  it('registrations under way → others register meanwhile, with one row per concurrent writer', async () => {
    await users.seen(app, 'first');
    await world.dataSource.transaction(async (tx) => {
      await users.seenIn(tx, app, 'slow');
      await world.dataSource.transaction(async (another) => {
        await users.seenIn(another, app, 'slow too');
        await users.seen(app, 'quick');
        await users.seen(app, 'quicker');
      });
    });
    expect([await answered(), await countRows()]).toEqual([{ total: 5, blocked: 0, active: 5 }, 3]);
    for (const index of numbers(20)) await users.seen(app, `later-${index}`);
    expect([await answered(), await countRows()]).toEqual([{ total: 25, blocked: 0, active: 25 }, 3]);
  });
});

it('users from before the counts → counted by the migration, even after a rollback', async () => {
  for (const id of ['alice', 'bob', 'carol']) await users.seen(app, id);
  await setBlocked('bob', true);
  const migration = new KeepUserCounts1763600000019();
  const runner = world.dataSource.createQueryRunner();
  try {
    await migration.down(runner);
    await users.seen(app, 'dave');
    await migration.up(runner);
  } finally {
    await runner.release();
  }
  await users.seen(app, 'erin');
  expect(await answered()).toEqual({ total: 5, blocked: 1, active: 4 });
});
