import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UsageLedgerRepository } from '../../../src/commands/ledger/usage-ledger.repository.js';
import { UsageLedger } from '../../../src/commands/ledger/usage-ledger.service.js';
import { Log } from '../../../src/common/log/log.js';
import { Retention, RetentionSteps } from '../../../src/retention/retention.service.js';
import { RetentionSessions } from '../../../src/retention/retention-session.repository.js';
import { firstOrganizationId } from '../../support/accounts/accounts.js';
import { FakeClock, sharedClockOf } from '../../support/clock.js';
import { BreakingSessions } from '../../support/platform/breaking-sessions.js';
import { keptTotals, storeUsage, usageRows } from '../../support/usage/recording/old-usage.js';
import { startWorld, type World } from '../../support/world.js';

const NEVER = new AbortController().signal;
/** The 90th day before is 2025-03-01. */
const NOW = '2025-05-30T12:00:00Z';
const GONE = '2025-02-28';
const KEPT = '2025-03-01';

const clock = new FakeClock(Date.parse(NOW));
let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld({ clock });
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(() => world.stop());

const night = () => world.gateway.app.get(Retention, { strict: false }).run(NEVER);

/** Everything in the database that names a user of the application, as `table: count`. */
async function tracesOf(appId: string, userId: string): Promise<Record<string, number>> {
  const columns: { table_name: string; column_name: string }[] = await world.dataSource.query(
    `SELECT one.table_name, one.column_name FROM information_schema.columns one
     JOIN information_schema.tables USING (table_schema, table_name)
     WHERE one.table_schema = 'public' AND tables.table_type = 'BASE TABLE' AND one.data_type = 'text'`,
  );
  const traces: Record<string, number> = {};
  for (const { table_name, column_name } of columns) {
    if (table_name.startsWith('usage_events_')) continue;
    const [{ count }] = await world.dataSource.query(
      `SELECT count(*)::int AS count FROM ${table_name} WHERE "${column_name}" = $1`,
      [`${appId}/${userId}`],
    );
    if (count > 0) traces[table_name] = (traces[table_name] ?? 0) + count;
  }
  return traces;
}

/** A user who called on the day, if given was seen by an exchange, and whose device was verified then. */
async function aUser(app: string, name: string, day: string, stored = false): Promise<string> {
  const id = `${app}/${name}`;
  await storeUsage(world.dataSource, usageRows([{ app_id: app, day, user_id: id, cost_nano_usd: 5 }], organizationId));
  if (!stored) return id;
  await world.dataSource.query(
    'UPDATE app_users SET is_virtual = false, claim_pending_since = last_seen_at WHERE app_id = $1 AND id = $2',
    [app, id],
  );
  await world.dataSource.query(
    `INSERT INTO device_keys (organization_id, app_id, key_id, user_id, public_key, counter, environment, created_at,
       last_used_at) VALUES ($1, $2, $3, $4, 'pem', 1, 'production', $5::date, $5::date)`,
    [organizationId, app, `key-${name}`, id, day],
  );
  await world.dataSource.query(
    `INSERT INTO auth_events (event_id, organization_id, app_id, user_id, event, outcome, created_at)
     VALUES (gen_random_uuid(), $1, $2, $3, 'register', 'ok', $4::date)`,
    [organizationId, app, id, day],
  );
  await world.dataSource.query('INSERT INTO limit_unsent (app_id, user_id, day, requests) VALUES ($1, $2, $3, 1)', [
    app,
    id,
    day,
  ]);
  await world.dataSource.query(
    'INSERT INTO limit_counts (app_id, user_id, window_ms, window_start_ms, requests) VALUES ($1, $2, 86400000, $3, 1)',
    [app, id, Date.parse(day)],
  );
  return id;
}

async function countsOf(app: string): Promise<unknown> {
  const { body } = await world.api.get(`/v1/admin/apps/${app}/users`);
  return [body.total, body.users.map(({ id }: { id: string }) => id.split('/')[1]).sort()];
}

describe('users without activity for 90 days (ADR 0034)', () => {
  it('virtual or stored → no table names them any more; totals and all other users stay', async () => {
    const { id: app } = await world.app();
    for (const stored of [false, true]) {
      await aUser(app, `old-${stored}`, GONE, stored);
      await aUser(app, `young-${stored}`, KEPT, stored);
    }
    const young = { virtual: await tracesOf(app, 'young-false'), stored: await tracesOf(app, 'young-true') };
    expect(Object.keys(await tracesOf(app, 'old-true')).sort()).toEqual(
      [
        ...['app_users', 'auth_events', 'budget_periods', 'device_keys', 'limit_counts', 'limit_unsent'],
        ...['usage_events', 'usage_user_days', 'usage_user_months'],
      ].sort(),
    );
    const before = await keptTotals(world.dataSource);
    expect(await night()).toBe('done');
    expect([await tracesOf(app, 'old-false'), await tracesOf(app, 'old-true')]).toEqual([{}, {}]);
    expect({ virtual: await tracesOf(app, 'young-false'), stored: await tracesOf(app, 'young-true') }).toEqual(young);
    expect(await keptTotals(world.dataSource)).toEqual(before);
    expect(await countsOf(app)).toEqual([2, ['young-false', 'young-true']]);
    const ledger = new UsageLedger(new UsageLedgerRepository(world.dataSource), clock);
    expect((await ledger.verify()).findings).toEqual([]);
    const [{ spent }] = await world.dataSource.query(
      "SELECT sum(spent_nano_usd)::int AS spent FROM budget_periods WHERE app_id = $1 AND scope = 'app' AND window_name = 'month'",
      [app],
    );
    expect(spent).toBe(20);
  });

  it('the last call in a month is expired, and a later month has more → only the old month is deleted', async () => {
    const { id: app } = await world.app();
    const user = await aUser(app, 'ann', GONE);
    await aUser(app, 'ann', '2025-05-29');
    await night();
    expect(await tracesOf(app, 'ann')).toMatchObject({ app_users: 1, usage_user_months: 1, budget_periods: 3 });
    const { body } = await world.api.get(`/v1/admin/apps/${app}/users/${encodeURIComponent(user)}?month=2025-05`);
    expect(body.user.usage).toMatchObject({ requests: 1 });
  });

  it('a blocked user → stays blocked; unblocked → deleted the next night', async () => {
    const { id: app } = await world.app();
    const user = await aUser(app, 'mallory', GONE, true);
    const path = `/v1/admin/apps/${app}/users/${encodeURIComponent(user)}`;
    expect((await world.api.post(`${path}/block`, {})).status).toBe(200);
    await night();
    expect(await tracesOf(app, 'mallory')).toEqual({ app_users: 1, audit_events: 1 });
    expect((await world.api.get(path)).body.user.status).toBe('blocked');
    expect((await world.api.post(`${path}/unblock`, {})).status).toBe(200);
    await night();
    expect(await tracesOf(app, 'mallory')).toEqual({ audit_events: 2 });
    expect(await countsOf(app)).toEqual([0, []]);
  });

  it('a recent device proof, or a recent missing claim → the user stays', async () => {
    const { id: app } = await world.app();
    for (const name of ['device', 'claim']) await aUser(app, name, GONE, true);
    await world.dataSource.query(
      "UPDATE device_keys SET last_used_at = $2::date WHERE app_id = $1 AND key_id = 'key-device'",
      [app, KEPT],
    );
    await world.dataSource.query(
      "UPDATE app_users SET claim_pending_since = $2::date WHERE app_id = $1 AND id LIKE '%/claim'",
      [app, KEPT],
    );
    await night();
    expect(await countsOf(app)).toEqual([2, ['claim', 'device']]);
  });

  it('nightly runs interrupted at every statement → totals exact at all times, and the last run leaves no expired rows', async () => {
    const { id: app } = await world.app();
    for (let user = 0; user < 5; user++) await aUser(app, `u${user}`, GONE, user % 2 === 0);
    const before = await keptTotals(world.dataSource);
    const steps = world.gateway.app.get(RetentionSteps, { strict: false });
    for (let at = 0; at < 40; at++) {
      const sessions = new BreakingSessions(world.dataSource, world.dataSource, {
        at,
        how: at % 2 ? 'after' : 'before',
      });
      await new Retention(sessions, steps, sharedClockOf(clock), new Log(clock, 'error', () => undefined)).run(NEVER);
      expect(await keptTotals(world.dataSource)).toEqual(before);
    }
    const runs = [0, 1].map(() =>
      new Retention(
        new RetentionSessions(world.dataSource),
        steps,
        sharedClockOf(clock),
        new Log(clock, 'error', () => undefined),
      ).run(NEVER),
    );
    expect((await Promise.all(runs)).sort()).toContain('done');
    for (let user = 0; user < 5; user++) expect(await tracesOf(app, `u${user}`)).toEqual({});
    expect(await keptTotals(world.dataSource)).toEqual(before);
  });
});
