import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { AccountEventsRepository } from '../../../../src/usage/reports/account-events.repository.js';
import { newAccount } from '../../../support/accounts/accounts.js';
import { FakeClock } from '../../../support/clock.js';
import { storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

const NOON_MS = Date.UTC(2026, 10, 20, 12);
const EVENTS = 60;

let world: World;
let db: DataSource;
let own: string;
let other: { readonly organizationId: string; readonly key: string };

/** Newest first: an event an hour, of kinds that repeat. */
const kindOf = (at: number) => ({
  app_id: ['notes', 'draws'][at % 2] ?? '',
  user_id: ['ann', 'bob', undefined][at % 3],
  model: `m-${at % 5}`,
  provider_slug: ['openai', 'backup'][at % 4 === 0 ? 1 : 0],
  endpoint_slug: at % 7 === 0 ? 'chat' : undefined,
  api_key_id: `key-${at % 2}`,
  status: at % 6 === 0 ? 'blocked_policy' : at % 10 === 1 ? 'provider_error' : 'ok',
});

beforeAll(async () => {
  world = await startWorld({ clock: new FakeClock(NOON_MS) });
  db = world.dataSource;
  [{ id: own }] = await db.query('SELECT id FROM organizations');
  other = await newAccount(db);
  for (let at = EVENTS - 1; at >= 0; at--) {
    const event = { ...kindOf(at), created_at_ms: NOON_MS - at * 3_600_000, cost_nano_usd: at };
    const theirs = { ...event, organization_id: other.organizationId, app_id: `their-${event.app_id}` };
    await storeEvents(db, { organization_id: own, ...event }, theirs);
  }
  await db.query(`UPDATE usage_events SET refusal = '{"code": "model_not_allowed", "message": "=no, \\"never\\""}'
    WHERE status = 'blocked_policy' AND user_id = 'ann'`);
});

afterAll(() => world.stop());

/** Places of all events that match, over all pages. */
async function found(query: string, limit = 7): Promise<number[]> {
  const places: number[] = [];
  for (let before = ''; ; ) {
    const { status, body } = await world.api.get(`/v1/admin/usage/events?limit=${limit}&${query}${before}`);
    expect(status).toBe(200);
    places.push(
      ...body.events.map((event: { created_at: string }) => (NOON_MS - Date.parse(event.created_at)) / 3_600_000),
    );
    if (body.next === null) return places;
    before = `&before=${body.next}`;
  }
}

const expected = (matches: (kind: ReturnType<typeof kindOf>, at: number) => boolean) =>
  Array.from({ length: EVENTS }, (_none, at) => at).filter((at) => matches(kindOf(at), at));

describe('GET usage/events', () => {
  it.each<[string, (kind: ReturnType<typeof kindOf>, at: number) => boolean]>([
    ['', () => true],
    ['app=draws', ({ app_id }) => app_id === 'draws'],
    ['user=ann', ({ user_id }) => user_id === 'ann'],
    ['endpoint=chat', ({ endpoint_slug }) => endpoint_slug === 'chat'],
    ['status=ok', ({ status }) => status === 'ok'],
    ['status=refused', ({ status }) => status === 'blocked_policy'],
    ['status=blocked_user', () => false],
    ['reason=model_not_allowed', ({ status, user_id }) => status === 'blocked_policy' && user_id === 'ann'],
    ['model=m-3', ({ model }) => model === 'm-3'],
    ['provider=backup', ({ provider_slug }) => provider_slug === 'backup'],
    ['provider=openai', () => true],
    ['key=key-1', ({ api_key_id }) => api_key_id === 'key-1'],
    ['user=bob&model=m-1&status=ok', (kind) => kind.user_id === 'bob' && kind.model === 'm-1' && kind.status === 'ok'],
    ['from=2026-11-19&to=2026-11-19', (_kind, at) => at > 12 && at <= 36],
    ['to=2026-11-18', (_kind, at) => at > 36],
  ])('%j → exactly the matching events, newest first, page by page', async (query, matches) => {
    expect(await found(query)).toEqual(expected(matches));
    expect(await found(query, 200)).toEqual(expected(matches));
  });

  it('searched in parts → the same result, even if some parts are empty', async () => {
    const repository = new AccountEventsRepository(db);
    const range = { fromMs: Date.UTC(2026, 10, 1), untilMs: Date.UTC(2026, 10, 21) };
    const places: number[] = [];
    let before: Awaited<ReturnType<AccountEventsRepository['search']>>['last'] = null;
    let searches = 0;
    do {
      const part = { before: before ?? undefined, part: 4, limit: 3 };
      const search = await repository.search({ organizationId: own, id: null }, range, { endpoint: 'chat' }, part);
      places.push(...search.events.map((event) => (NOON_MS - event.created_at.getTime()) / 3_600_000));
      before = search.last;
      searches++;
    } while (before !== null);
    expect(places).toEqual(expected(({ endpoint_slug }) => endpoint_slug === 'chat'));
    expect(searches).toBeGreaterThan(10);
  });

  it('another account → only its own events', async () => {
    const { body } = await world.as(other.key).get('/v1/admin/usage/events?limit=200');
    expect(body.events).toHaveLength(EVENTS);
    const csv = (await world.as(other.key).get('/v1/admin/usage/events.csv')).text;
    expect(csv.trim().split('\r\n')).toHaveLength(EVENTS + 1);
  });

  it.each([
    ['before=1', 'before'],
    ['before=1-', 'before'],
    ['before=99999999999999999-1', 'before'],
    ['status=bogus', 'status'],
    ['from=2026-02-30', 'from'],
    ['limit=0', 'limit'],
    ['model=', 'model'],
    ['nonsense=1', 'nonsense'],
  ])('?%s → 400 naming the parameter', async (query, name) => {
    for (const route of ['events', ...(['before', 'limit'].includes(name) ? [] : ['events.csv'])]) {
      const { status, body } = await world.api.get(`/v1/admin/usage/${route}?${query}`);
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
      expect(body.error.message).toMatch(new RegExp(`^${name}: `));
    }
  });
});

describe('CSV', () => {
  it('events of the period → all of them, money exact, formulas become text', async () => {
    const { status, headers, text } = await world.api.get('/v1/admin/usage/events.csv?user=ann&status=refused');
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const [header = '', ...lines] = text.trim().split('\r\n');
    const columns = header.replaceAll('"', '').split(',');
    expect(lines).toHaveLength(
      expected(({ status: of, user_id }) => of === 'blocked_policy' && user_id === 'ann').length,
    );
    expect(lines[1]).toContain(`"model_not_allowed","'=no, ""never"""`);
    expect(columns).toContain('cost_usd');
    expect(lines[1]).toContain('"0.000000006"');
  });

  it('more events than one statement reads → each once', async () => {
    const { organizationId, key } = await newAccount(db);
    const events = Array.from({ length: 4_500 }, (_none, at) => ({
      ...{ organization_id: organizationId, app_id: 'many', created_at_ms: NOON_MS - (at % 9), cost_nano_usd: at },
    }));
    await storeEvents(db, ...events);
    const lines = (await world.as(key).get('/v1/admin/usage/events.csv')).text.trim().split('\r\n');
    expect(new Set(lines).size).toBe(4_501);
    expect(lines).toHaveLength(4_501);
  });

  it('breakdown → all rows of the period, money exact', async () => {
    const { text } = await world.api.get('/v1/admin/usage/breakdown.csv?by=model&from=2026-11-18');
    const lines = text.trim().split('\r\n');
    expect(lines[0]).toBe(
      '"model","requests","errors","blocked","input_tokens","cached_input_tokens","cache_write_tokens","output_tokens","cost_usd","estimated_cost_usd"',
    );
    const cost = expected(({ model }) => model === 'm-3').reduce((sum, at) => sum + at, 0);
    expect(lines.find((line) => line.startsWith('"m-3"'))).toContain(`"${(cost / 1e9).toFixed(9).replace(/0+$/, '')}"`);
    const ofUsers = (await world.api.get('/v1/admin/usage/breakdown.csv?by=user')).text;
    expect(ofUsers.split('\r\n')[0]).toMatch(/^"user","app",/);
    expect(ofUsers).toContain('"ann","notes"');
  });
});
