import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ACCOUNT_DIMENSIONS } from '../../../../src/usage/recording/usage-columns.js';
import { newAccount } from '../../../support/accounts/accounts.js';
import { FakeClock } from '../../../support/clock.js';
import { type EventMembers, storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

const NOON_MS = Date.UTC(2026, 10, 20, 12);
const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const FIRST_EVENT_DAY = '2026-08-22';
const TABLES = [
  ...['usage_events', 'usage_days', 'usage_months', 'usage_user_days', 'usage_user_months', 'usage_all_users_days'],
  ...['usage_app_months', 'usage_key_days', 'usage_latencies', 'budget_periods'],
];

const NOTHING = {
  ...{ requests: 0, input_tokens: 0, cached_input_tokens: 0, cache_write_tokens: 0, output_tokens: 0 },
  ...{ cost_usd: 0, estimated_cost_usd: 0, errors: 0, blocked: 0 },
};
const NO_LATENCY = { calls: 0, p50_ms: null, p95_ms: null };
const NO_USAGE = { ...NOTHING, latency: NO_LATENCY, duration: NO_LATENCY };

let world: World;
let own: string;
let other: { readonly organizationId: string; readonly key: string };

beforeAll(async () => {
  world = await startWorld({ clock: new FakeClock(NOON_MS) });
  [{ id: own }] = await world.dataSource.query('SELECT id FROM organizations');
  other = await newAccount(world.dataSource);
});

beforeEach(() => world.dataSource.query(`TRUNCATE ${TABLES.join(', ')}`));

afterAll(() => world.stop());

type Members = Partial<EventMembers> & { readonly ago?: number; readonly hour?: number };

/** Events so many days ago, at an hour of the day; of the application `notes` unless they name another. */
async function store(...events: Members[]): Promise<void> {
  for (const { ago = 0, hour = 12, ...members } of events) {
    const created_at_ms = NOON_MS - ago * DAY_MS + (hour - 12) * HOUR_MS;
    await storeEvents(world.dataSource, { organization_id: own, app_id: 'notes', created_at_ms, ...members });
  }
}

async function read(query = '') {
  const { status, body } = await world.api.get(`/v1/admin/usage${query}`);
  expect(status).toBe(200);
  return body;
}

const ofOther = { app_id: 'theirs' };

describe('GET usage', () => {
  it('applications of the account → one sum of the range, and of the same number of days before it', async () => {
    await store(
      { cost_nano_usd: 1_500_000_000, input_tokens: 3, latency_ms: 100, duration_ms: 900 },
      { app_id: 'draws', status: 'provider_error', latency_ms: 9_000, duration_ms: 9_000 },
      { ago: 6, status: 'blocked_user', cost_source: null, requests: 4 },
      { ago: 7, cost_nano_usd: 1, latency_ms: 2_000 },
      { ago: 14 },
      { ...ofOther, organization_id: other.organizationId, cost_nano_usd: 5 },
    );
    const body = await read('?from=2026-11-14');
    expect(body).toEqual({
      ...{ app_id: null, from: '2026-11-14', to: '2026-11-20', latency_from: '2026-11-14' },
      ...{ ...NOTHING, requests: 6, errors: 1, blocked: 4, cost_usd: 1.5, input_tokens: 3 },
      latency: { calls: 1, p50_ms: expect.any(Number), p95_ms: expect.any(Number) },
      duration: { calls: 1, p50_ms: expect.any(Number), p95_ms: expect.any(Number) },
      previous: {
        ...{ ...NOTHING, from: '2026-11-07', to: '2026-11-13', requests: 1, cost_usd: 1e-9 },
        latency: { calls: 1, p50_ms: expect.any(Number), p95_ms: expect.any(Number) },
        duration: NO_LATENCY,
      },
    });
    expect(Math.abs(body.duration.p95_ms - 900)).toBeLessThanOrEqual(45);
    expect(Math.abs(body.latency.p50_ms - 100)).toBeLessThanOrEqual(5);
    expect(Math.abs(body.previous.latency.p95_ms - 2_000)).toBeLessThanOrEqual(100);
    expect(await read('?from=2026-11-14&app=draws')).toMatchObject({ app_id: 'draws', requests: 1, errors: 1 });
  });

  it('calendar month → compared with the month before, even if it is folded', async () => {
    await store({ ago: 21 }, { ago: 50 }, { ago: 51 });
    expect(await read('?from=2026-10-01&to=2026-10-31')).toMatchObject({
      ...{ requests: 2, previous: { from: '2026-09-01', to: '2026-09-30', requests: 1 } },
    });
  });

  it('an account without usage, an application of another account → zeros', async () => {
    await store({ ...ofOther, organization_id: other.organizationId });
    const zeros = { ...NO_USAGE, previous: NO_USAGE };
    expect(await read()).toMatchObject(zeros);
    expect(await read('?app=theirs')).toMatchObject({ ...zeros, app_id: 'theirs' });
    const { body } = await world.as(other.key).get('/v1/admin/usage');
    expect(body.requests).toBe(1);
  });
});

describe('GET usage/timeseries', () => {
  it('by application → one bucket for each day and application, latencies by day', async () => {
    await store(
      { latency_ms: 10 },
      { app_id: 'draws', status: 'provider_error' },
      { ago: 1, latency_ms: 1_000 },
      { ago: 1, latency_ms: 1_000 },
      { ...ofOther, organization_id: other.organizationId, latency_ms: 1 },
    );
    const body = await read('/timeseries?by=app&from=2026-11-19');
    expect(body.buckets).toEqual([
      { ...NOTHING, start: '2026-11-19', key: 'notes', requests: 2 },
      { ...NOTHING, start: '2026-11-20', key: 'draws', requests: 1, errors: 1 },
      { ...NOTHING, start: '2026-11-20', key: 'notes', requests: 1 },
    ]);
    expect(body.latencies).toMatchObject([
      { start: '2026-11-19', calls: 2 },
      { start: '2026-11-20', calls: 1 },
    ]);
    const ofDraws = await read('/timeseries?app=draws');
    expect([ofDraws.buckets.length, ofDraws.latencies]).toEqual([1, []]);
  });

  it('hours → those of today, or of a day whose events are kept; refusals with their counts', async () => {
    await store(
      ...[{ hour: 0 }, { hour: 11, latency_ms: 500, cost_nano_usd: 2_000_000_000, charged_nano_usd: 3_000_000_000 }],
      { hour: 11, app_id: 'draws', status: 'blocked_user', cost_source: null, requests: 7 },
      { ago: 1, hour: 23 },
      { hour: 11, ...ofOther, organization_id: other.organizationId },
    );
    const body = await read('/timeseries?unit=hour&by=status');
    expect(body).toMatchObject({ unit: 'hour', from: '2026-11-20', to: '2026-11-20' });
    expect(body.buckets).toEqual([
      { ...NOTHING, start: '2026-11-20T00:00:00Z', key: 'ok', requests: 1 },
      { ...NOTHING, start: '2026-11-20T11:00:00Z', key: 'blocked_user', requests: 7, blocked: 7 },
      { ...NOTHING, start: '2026-11-20T11:00:00Z', key: 'ok', requests: 1, cost_usd: 2, estimated_cost_usd: 1 },
    ]);
    expect(body.latencies).toMatchObject([{ start: '2026-11-20T11:00:00Z', calls: 1 }]);
    expect((await read('/timeseries?unit=hour&to=2026-11-19')).buckets).toMatchObject([{ key: 'openai', requests: 1 }]);
    expect((await read('/timeseries?unit=hour&app=draws&by=model')).buckets).toMatchObject([{ requests: 7 }]);
  });
});

describe('GET usage/breakdown', () => {
  /** A key of every dimension; the account itself has one event without most of them. */
  const DETAILS = {
    ...{ user_id: 'ann', provider_slug: 'p', provider_gateway_id: 'g', credential_source: 'direct', model_author: 'a' },
    ...{ endpoint_slug: 'e', app_version: '1', api_key_id: 'key-1' },
  };
  const OF_APPS = ['user', 'endpoint', 'key'];

  it.each(ACCOUNT_DIMENSIONS)('by %s → sums of all applications, keys of an application separately', async (by) => {
    await store(
      { ...DETAILS, latency_ms: 100, duration_ms: 300 },
      { ...DETAILS, app_id: 'draws' },
      { ago: 40, ...DETAILS },
    );
    await store({ ...ofOther, ...DETAILS, organization_id: other.organizationId });
    const body = await read(`/breakdown?by=${by}`);
    expect(body.total).toEqual({ ...NOTHING, requests: 2 });
    const isApart = by === 'app' || OF_APPS.includes(by);
    expect(body.rows.map((row: { requests: number }) => row.requests)).toEqual(isApart ? [1, 1] : [2]);
    const apps = body.rows.map((row: { app_id: string | null }) => row.app_id).sort();
    expect(apps).toEqual(OF_APPS.includes(by) ? ['draws', 'notes'] : apps.map(() => null));
    const calls = body.rows.map((row: { latency: { calls: number } | null }) => row.latency?.calls ?? null);
    const hasLatency = ['app', 'model', 'provider'].includes(by);
    expect(calls.toSorted()).toEqual(hasLatency ? (isApart ? [0, 1] : [1]) : calls.map(() => null));
    expect((await read(`/breakdown?by=${by}&app=theirs`)).rows).toEqual([]);
    expect((await read(`/breakdown?by=${by}&app=draws`)).rows).toMatchObject([{ requests: 1 }]);
  });

  it('by key → costs follow corrections, and calls without a key are separate', async () => {
    await store(
      { api_key_id: 'key-1', cost_nano_usd: 4_000_000_000 },
      { api_key_id: 'key-1', status: 'blocked_app_rate', cost_source: null, requests: 3 },
      { api_key_id: 'key-2', status: 'provider_error' },
      { cost_nano_usd: 1_000_000_000 },
    );
    for (const table of ['usage_events', 'usage_days']) {
      await world.dataSource.query(`UPDATE ${table} SET cost_nano_usd = cost_nano_usd * 2`);
    }
    expect((await read('/breakdown?by=key')).rows).toMatchObject([
      { key: 'key-1', requests: 4, blocked: 3, cost_usd: 8 },
      { key: 'key-2', requests: 1, errors: 1 },
      { key: null, requests: 1, cost_usd: 2 },
    ]);
  });

  it('by user, more than the limit → the busiest of all applications', async () => {
    for (const [app_id, requests] of Object.entries({ a: [9, 2], b: [5, 4], c: [3, 3] })) {
      await store(...requests.map((count, at) => ({ app_id, user_id: `${app_id}${at}`, requests: count })));
    }
    const { rows } = await read('/breakdown?by=user&limit=3');
    expect(rows.map((row: { key: string; app_id: string }) => [row.app_id, row.key])).toEqual([
      ['a', 'a0'],
      ['b', 'b0'],
      ['b', 'b1'],
    ]);
  });

  it('details kept for 90 days → complete within that time; the total covers the same days', async () => {
    await store({ ago: 90, ...DETAILS }, { ago: 91, ...DETAILS });
    expect(await read('/breakdown?by=key&from=2026-01-01')).toMatchObject({
      ...{ from: '2026-01-01', complete_from: FIRST_EVENT_DAY, total: { requests: 1 }, rows: [{ requests: 1 }] },
    });
    expect(await read('/breakdown?by=app&from=2026-01-01')).toMatchObject({
      ...{ complete_from: '2026-01-01', total: { requests: 2 }, rows: [{ requests: 2 }] },
    });
  });
});

describe('invalid queries about the account', () => {
  it.each([
    ['?from=2026-02-30', 'from'],
    ['?from=2026-11-21', 'from'],
    ['?month=2026-01', 'month'],
    ['?app=', 'app'],
    ['/timeseries?by=user', 'by'],
    ['/timeseries?unit=minute', 'unit'],
    ['/timeseries?unit=hour&from=2026-11-19', 'from'],
    ['/timeseries?unit=hour&to=2026-08-21', 'to'],
    ['/breakdown?by=nonsense', 'by'],
    ['/breakdown?limit=201', 'limit'],
  ])('usage%s → 400 naming the parameter', async (query, name) => {
    const { status, body } = await world.api.get(`/v1/admin/usage${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toMatch(new RegExp(`^${name}: `));
  });

  it('no credential → 401', async () => {
    for (const path of ['', '/timeseries', '/breakdown']) {
      expect((await world.as(undefined).get(`/v1/admin/usage${path}`)).status).toBe(401);
    }
  });
});
