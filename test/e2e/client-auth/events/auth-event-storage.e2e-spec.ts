import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { AuthEventDraft } from '../../../../src/client-auth/events/auth-event.js';
import { AuthEventWriter } from '../../../../src/client-auth/events/auth-event-writer.service.js';
import { AuthEventsRepository } from '../../../../src/client-auth/events/auth-events.repository.js';
import { AuthEvents, authEventText } from '../../../../src/client-auth/events/auth-events.service.js';
import { firstOrganizationId, newAccount } from '../../../support/accounts/accounts.js';
import { anAuthEvent, recordAuthEvents } from '../../../support/client-auth/exchange/auth-events.js';
import { eventually } from '../../../support/eventually.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { untilStatementWaits } from '../../../support/platform/lock-waits.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../../support/platform/redis.js';
import { startTcpProxy, type TcpProxy } from '../../../support/platform/tcp-proxy.js';
import { startWorld, type World } from '../../../support/world.js';

/** Terminates connections that wait to store events. */
const KILL_WAITING = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO auth_events%'
    AND pid <> pg_backend_pid()`;

let redis: Pick<TestRedis, 'url' | 'stop'>;
let world: World;
let organizationId: string;

beforeAll(async () => {
  redis = await reachRedis();
  world = await startWorld({ env: { REDIS_URL: redis.url } });
  organizationId = await firstOrganizationId(world.dataSource);
});

afterAll(async () => {
  await world.stop();
  await redis.stop();
});

const draftOf = (appId: string, overrides: Partial<AuthEventDraft> = {}) =>
  anAuthEvent({ organizationId, appId, ...overrides });

const record = (drafts: readonly AuthEventDraft[], gateway = world.gateway) => recordAuthEvents(gateway, drafts);

/** User ids of the stored events, in the order of their rows. */
async function usersOf(appId: string): Promise<unknown[]> {
  const rows: { user_id: string | null }[] = await world.dataSource.query(
    'SELECT user_id FROM auth_events WHERE app_id = $1 ORDER BY id',
    [appId],
  );
  return rows.map((row) => row.user_id);
}

describe('storing events', () => {
  const lostLines = () => world.logs.filter(({ message }) => message === 'auth_event_record_failed');

  it('texts that Postgres cannot hold as they are → cleaned and stored', async () => {
    const app = await world.app();
    await record([draftOf(app.id, { userId: 'a\u0000b\ud800"\\', appVersion: 'v'.repeat(70) })]);
    const { body } = await world.api.get(`/v1/admin/apps/${app.id}/auth-events`);
    expect(body.events[0]).toMatchObject({ user_id: 'ab\ufffd"\\', app_version: 'v'.repeat(64) });
  });

  it('the same events stored again, partly, concurrently and repeatedly → each is stored once', async () => {
    const app = await world.app();
    const repository = world.gateway.app.get(AuthEventsRepository);
    const texts = Array.from({ length: 60 }, (_, index) => {
      const eventId = `00000000-0000-4000-8000-${String(world.logs.length * 1_000 + index).padStart(12, '0')}`;
      return authEventText(eventId, draftOf(app.id, { userId: `user-${index}` }));
    });
    const batches = Array.from({ length: 12 }, (_, index) => texts.slice(index * 3, index * 3 + 27));
    await Promise.all([...batches, texts].map((batch) => repository.insert(`[${batch.join(',')}]`)));
    const users = await usersOf(app.id);
    expect([users.length, new Set(users).size]).toEqual([60, 60]);
  });

  it('application deleted meanwhile → its events are left out, the others are stored, without an error line', async () => {
    const [gone, kept] = [await world.app(), await world.app()];
    await record([draftOf(gone.id)]);
    await world.api.delete(`/v1/admin/apps/${gone.id}?confirm=${gone.id}`);
    await record([draftOf(gone.id), draftOf(kept.id, { userId: 'kept' }), draftOf(gone.id)]);
    expect(await usersOf(kept.id)).toEqual(['kept']);
    expect([await usersOf(gone.id), lostLines()]).toEqual([[], []]);
  });

  it.each([0, 1, 5])(
    'application deleted while a statement of its event and %d others runs → only that event is left out',
    async (others) => {
      const [gone, kept] = [await world.app(), await world.app()];
      const events = world.gateway.app.get(AuthEvents);
      await world.dataSource.transaction(async (tx) => {
        await tx.query('DELETE FROM apps WHERE id = $1', [gone.id]);
        events.record(draftOf(gone.id));
        for (let index = 0; index < others; index++) events.record(draftOf(kept.id));
        await untilStatementWaits(world.dataSource, 'auth_events');
      });
      await world.gateway.app.get(AuthEventWriter).flush();
      expect([await usersOf(gone.id), (await usersOf(kept.id)).length, lostLines()]).toEqual([[], others, []]);
    },
  );

  it('account and application that do not belong together → not stored', async () => {
    const app = await world.app();
    await record([draftOf(app.id, { organizationId: (await newAccount(world.dataSource)).organizationId })]);
    expect(await usersOf(app.id)).toEqual([]);
  });
});

describeWithRedis('another instance on the same database', () => {
  let proxy: TcpProxy;
  let instance: FurtherInstance;
  const logs: Record<string, unknown>[] = [];

  beforeAll(async () => {
    const { hostname, port } = new URL(world.databaseUrl);
    proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
    const url = new URL(world.databaseUrl);
    url.host = `127.0.0.1:${proxy.port}`;
    instance = await startFurtherInstance(world, url.href, { log: (line) => logs.push(JSON.parse(line)) });
  });

  afterEach(() => proxy.thaw());

  afterAll(async () => {
    await instance.stop();
    await proxy.close();
  });

  const lostLines = () => logs.filter(({ message }) => message === 'auth_event_record_failed');

  it('the database stops answering and comes back → every event is stored once, within 5 s', async () => {
    const app = await world.app();
    const events = instance.gateway.app.get(AuthEvents);
    await record([draftOf(app.id, { userId: 'before' })], instance.gateway);
    proxy.freeze();
    for (let index = 0; index < 1_200; index++) events.record(draftOf(app.id, { userId: `during-${index}` }));
    await eventually(() => proxy.swallowed().includes('during-0'), { withinMs: 10_000 });
    expect(await usersOf(app.id)).toEqual(['before']);
    proxy.thaw();
    events.record(draftOf(app.id, { userId: 'after' }));
    await eventually(async () => (await usersOf(app.id)).length === 1_202, { withinMs: 10_000 });
    const during = Array.from({ length: 1_200 }, (_, index) => `during-${index}`);
    expect(await usersOf(app.id)).toEqual(['before', ...during, 'after']);
    expect(lostLines()).toEqual([]);
  });

  it('connections killed during their statements, one after the other → nothing is lost or duplicated', async () => {
    const app = await world.app();
    for (let round = 0; round < 3; round++) {
      await world.dataSource.transaction(async (tx) => {
        await tx.query('LOCK TABLE auth_events IN EXCLUSIVE MODE');
        for (let index = 0; index < 300; index++) {
          instance.gateway.app.get(AuthEvents).record(draftOf(app.id, { userId: `${round}-${index}` }));
        }
        await eventually(async () => (await world.dataSource.query(KILL_WAITING)).length > 0, { withinMs: 10_000 });
      });
    }
    await eventually(async () => (await usersOf(app.id)).length === 900, { withinMs: 10_000 });
    expect(new Set(await usersOf(app.id)).size).toBe(900);
    expect(lostLines()).toEqual([]);
  });

  it('stopped → events recorded just before are stored', async () => {
    const app = await world.app();
    for (let index = 0; index < 700; index++) instance.gateway.app.get(AuthEvents).record(draftOf(app.id));
    await instance.stop();
    expect(await usersOf(app.id)).toHaveLength(700);
    expect(lostLines()).toEqual([]);
  });
});
