import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startGateway } from '../../../../src/bootstrap/start.js';
import { GatewayError } from '../../../../src/common/errors/gateway-error.js';
import { RequestLimits } from '../../../../src/limits/requests/request-limits.service.js';
import { ConfigChanges } from '../../../../src/platform/database/config-changes.js';
import { FakeClock } from '../../../support/clock.js';
import { eventually } from '../../../support/eventually.js';
import { aCall, burst, outcomeOf } from '../../../support/limits/requests/limited-calls.js';
import { storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

const NOON = Date.UTC(2030, 0, 15, 12, 0, 20);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** As many as are kept before idle ones leave. */
const CROWD = 100_000;

/** Postgres ends the connection that changes the epoch, once. What a sequence has counted stays counted. */
const CUT_FIRST_CHANGE = `
  CREATE SEQUENCE changes;
  CREATE FUNCTION cut_first() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF nextval('changes') = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
      RETURN NEW;
    END $$;
  CREATE TRIGGER cut_first BEFORE UPDATE ON limit_epoch FOR EACH ROW EXECUTE FUNCTION cut_first()`;

async function onConnection(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(sql);
  await client.end();
}

describe('request limits of one instance without Redis', () => {
  const clock = new FakeClock(NOON);
  let world: World;
  let limits: RequestLimits;
  let apps = 0;
  let app: string;

  beforeAll(async () => {
    world = await startWorld({ clock, env: { REDIS_URL: '' } });
    limits = world.gateway.app.get(RequestLimits);
  });
  beforeEach(() => {
    app = `app-${++apps}`;
    clock.advance(NOON - clock.nowMs());
  });
  afterAll(() => world.stop());

  const store = (events: number, members: Record<string, string>) =>
    storeEvents(
      world.dataSource,
      ...Array.from({ length: events }, () => ({
        organization_id: 'org-1',
        app_id: app,
        created_at_ms: clock.nowMs(),
        ...members,
      })),
    );

  it.each([
    ['user', 'perMinute', 'user_minute_limit_reached', 40],
    ['user', 'perDay', 'user_day_limit_reached', 43_180],
    ['app', 'perMinute', 'app_minute_limit_reached', 40],
    ['app', 'perDay', 'app_day_limit_reached', 43_180],
  ] as const)(
    '%s %s: 50 calls at once, limit 7 → 7 pass; the refusal has all data',
    async (scope, kind, reason, retry) => {
      const call = aCall(app, 'alice', { [scope]: { [kind]: 7 } });
      expect(await burst(limits, call, 50)).toEqual({ passed: 7, refused: { [reason]: 43 } });
      const refusal = await Promise.resolve()
        .then(() => limits.admit(call))
        .catch((error: unknown) => error);
      expect(refusal).toBeInstanceOf(GatewayError);
      expect(refusal).toMatchObject({
        code: 'app_rate_limited',
        status: 429,
        data: { scope },
        retryAfterSeconds: retry,
      });
    },
  );

  it('a known scope → decided synchronously', async () => {
    const call = aCall(app, 'alice', { user: { perMinute: 5, perDay: 5 }, app: { perMinute: 5, perDay: 5 } });
    await limits.admit(call);
    expect(limits.admit(call)).toBeUndefined();
    expect(limits.countToday(call)).toBe(2);
  });

  it('several limits are reached → user before application, minute before day; a refused call is not counted', async () => {
    const all = { user: { perMinute: 3, perDay: 5 }, app: { perMinute: 9, perDay: 9 } };
    const call = aCall(app, 'alice', all);
    expect(await burst(limits, call, 4)).toEqual({ passed: 3, refused: { user_minute_limit_reached: 1 } });
    clock.advance(MINUTE_MS);
    expect(await burst(limits, call, 4)).toEqual({ passed: 2, refused: { user_day_limit_reached: 2 } });
    expect(await burst(limits, aCall(app, 'bob', all), 4)).toEqual({
      passed: 3,
      refused: { user_minute_limit_reached: 1 },
    });
    expect(await burst(limits, aCall(app, 'carol', all), 4)).toEqual({
      passed: 1,
      refused: { app_day_limit_reached: 3 },
    });
    await expect(async () => limits.requireUser(call)).rejects.toMatchObject({ reason: 'user_day_limit_reached' });
    await limits.requireUser(aCall(app, 'carol', all));
  });

  it('the next minute, the next UTC day → calls pass again; a clock set back by less than that → still refused', async () => {
    const call = aCall(app, null, { app: { perMinute: 2, perDay: 3 } });
    expect((await burst(limits, call, 5)).passed).toBe(2);
    clock.advance(MINUTE_MS);
    expect((await burst(limits, call, 5)).passed).toBe(1);
    clock.advance(-MINUTE_MS);
    expect(await outcomeOf(limits, call)).toBe('app_minute_limit_reached');
    clock.advance(12 * HOUR_MS);
    expect((await burst(limits, call, 5)).passed).toBe(2);
    clock.advance(-12 * HOUR_MS + 5 * MINUTE_MS);
    expect(await outcomeOf(limits, call)).toBe('app_day_limit_reached');
  });

  it('enabled in the middle of a day → counts recorded requests, not refusals; the same when enabled again', async () => {
    await store(3, { user_id: 'alice' });
    await store(2, { user_id: 'alice', status: 'blocked_app_rate' });
    await store(1, { user_id: 'bob', status: 'provider_error' });
    const call = aCall(app, 'alice', { user: { perDay: 5 } });
    expect((await burst(limits, call, 10)).passed).toBe(2);
    expect((await burst(limits, aCall(app, null, { app: { perDay: 6 } }), 10)).passed).toBe(2);
    await store(8, { user_id: 'alice' });
    world.gateway.app.get(ConfigChanges).applyHere({ topic: 'apps', key: app });
    expect(await limits.countToday(aCall(app, 'alice', { user: { perDay: 20 } }))).toBe(11);
    expect((await burst(limits, aCall(app, 'alice', { user: { perDay: 20 } }), 20)).passed).toBe(9);
  });

  it('raised and lowered → applies to the next call', async () => {
    expect((await burst(limits, aCall(app, 'a', { user: { perMinute: 2 } }), 5)).passed).toBe(2);
    expect((await burst(limits, aCall(app, 'a', { user: { perMinute: 4 } }), 5)).passed).toBe(2);
    expect((await burst(limits, aCall(app, 'a', { user: { perMinute: 3 } }), 5)).passed).toBe(0);
  });

  it('the database is unavailable → a day with an unknown count gets 503, and is queried again', async () => {
    await world.dataSource.query('ALTER TABLE usage_days RENAME TO usage_days_away');
    const call = aCall(app, null, { app: { perDay: 1 } });
    await expect(async () => limits.admit(call)).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 1,
    });
    await world.dataSource.query('ALTER TABLE usage_days_away RENAME TO usage_days');
    expect((await burst(limits, call, 3)).passed).toBe(1);
  });

  it('the application is at its limit → made-up users cause no query and get the application’s refusal', async () => {
    const all = { user: { perMinute: 9, perDay: 9 }, app: { perDay: 3 } };
    expect((await burst(limits, aCall(app, 'ann', all), 3)).passed).toBe(3);
    await world.dataSource.query('ALTER TABLE usage_user_days RENAME TO usage_user_days_away');
    for (let user = 0; user < 50; user++) {
      expect(await outcomeOf(limits, aCall(app, `user-${user}`, all))).toBe('app_day_limit_reached');
    }
    await world.dataSource.query('ALTER TABLE usage_user_days_away RENAME TO usage_user_days');
  });

  it('more users than fit in memory → idle ones are evicted, and continue from their count, recorded or not', async () => {
    const call = aCall(app, 'ann', { user: { perDay: 8 } });
    expect((await burst(limits, call, 5)).passed).toBe(5);
    const others = { user: { perMinute: 1 } };
    let more = 0;
    const crowd = async () => {
      for (let user = 0; user < CROWD; user++) await limits.admit(aCall(app, `user-${++more}`, others));
      clock.advance(2 * MINUTE_MS);
    };
    await crowd();
    const kept = () => world.dataSource.query('SELECT requests FROM limit_counts WHERE app_id = $1', [app]);
    const isKept = async () => {
      clock.advance(1_000);
      await limits.admit(aCall(app, `user-${++more}`, others));
      return (await kept()).length === 1;
    };
    await eventually(isKept, { withinMs: 10_000 });
    expect(await kept()).toEqual([{ requests: '5' }]);
    await world.dataSource.query('UPDATE limit_counts SET requests = 6 WHERE app_id = $1', [app]);
    // The row is visible a moment before its writer is notified and evicts the user. A count in between keeps the user
    // in memory until the next eviction, which has nothing to write.
    const writes = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'
      AND query LIKE '%limit_counts%' AND pid <> pg_backend_pid()`;
    const areWritten = async () => (await world.dataSource.query(writes)).length === 0;
    await eventually(areWritten, { withinMs: 10_000 });
    const isEvicted = async () => {
      if ((await limits.countToday(call)) === 6) return true;
      await crowd();
      await limits.admit(aCall(app, `user-${++more}`, others));
      await eventually(areWritten, { withinMs: 10_000 });
      return false;
    };
    await eventually(isEvicted, { withinMs: 15_000 });
    expect(await burst(limits, call, 9)).toEqual({ passed: 2, refused: { user_day_limit_reached: 7 } });
  });

  it('Postgres closes the connection while the start begins counting → the start continues', async () => {
    const own = await startWorld({ env: { REDIS_URL: '' } });
    try {
      await own.gateway.stop('test');
      await onConnection(own.databaseUrl, CUT_FIRST_CHANGE);
      const logs: string[] = [];
      const again = await startGateway(own.environment, { log: (line) => logs.push(line) });
      await again.stop('test');
      expect(logs.filter((line) => line.includes('database_waiting'))).toEqual([expect.stringContaining('57P01')]);
    } finally {
      await own.stop();
    }
  });

  it('started again → the day continues from the recorded requests', async () => {
    const call = aCall(app, 'alice', { user: { perDay: 5 } });
    expect((await burst(limits, call, 3)).passed).toBe(3);
    await store(3, { user_id: 'alice' });
    await world.gateway.stop('test');
    const again = await startGateway(world.environment, { clock, log: () => undefined });
    try {
      expect((await burst(again.app.get(RequestLimits), call, 5)).passed).toBe(2);
    } finally {
      await again.stop('test');
    }
  });
});
