import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { UsageRetentionRepository } from '../../../../src/retention/usage-retention.repository.js';
import { UsageRetention } from '../../../../src/retention/usage-retention.service.js';
import { USAGE_DIMENSIONS } from '../../../../src/usage/recording/usage-columns.js';
import { FakeClock } from '../../../support/clock.js';
import { type EventMembers, storeEvents } from '../../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../../support/world.js';

const TODAY_MS = Date.UTC(2026, 10, 20);
const DAY_MS = 24 * 60 * 60 * 1000;
const REFUSED = 'blocked_app_rate';
/** The 90th day before today: details of earlier days are deleted. */
const FIRST_EVENT_DAY = '2026-08-22';
/** A key of every dimension that not every event has. */
const DETAILS = {
  ...{ user_id: 'ann', provider_slug: 'p', provider_gateway_id: 'g', credential_source: 'direct', model_author: 'a' },
  ...{ endpoint_slug: 'e', app_version: '1', api_key_id: 'k' },
};

const NOTHING = {
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

let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld({ clock: new FakeClock(TODAY_MS + DAY_MS / 2) });
  [{ id: organizationId }] = await world.dataSource.query('SELECT id FROM organizations');
});

afterAll(() => world.stop());

/** An application with events, each so many days ago. */
async function appWith(...events: (Partial<EventMembers> & { readonly ago?: number })[]): Promise<string> {
  const { id } = await world.app();
  for (const { ago = 0, ...members } of events) {
    const created_at_ms = TODAY_MS - ago * DAY_MS;
    await storeEvents(world.dataSource, { organization_id: organizationId, app_id: id, created_at_ms, ...members });
  }
  return id;
}

function seriesOf(appId: string, query = '') {
  return world.api.get(`/v1/admin/apps/${appId}/usage/timeseries${query}`);
}

function breakdownOf(appId: string, query = '') {
  return world.api.get(`/v1/admin/apps/${appId}/usage/breakdown${query}`);
}

/** Keys and requests of the rows, in their order. */
async function sharesOf(appId: string, query: string) {
  const { body } = await breakdownOf(appId, query);
  return body.rows.map((row: { key: string | null; requests: number }) => [row.key, row.requests]);
}

/** The nightly work on days: details are deleted, and then the days themselves. */
async function fold(appId: string): Promise<void> {
  await world.dataSource.query(
    `INSERT INTO usage_months SELECT organization_id, app_id, date_trunc('month', day)::date, provider_type, model, status,
       sum(requests), sum(input_tokens), sum(cached_input_tokens), sum(cache_write_tokens), sum(output_tokens),
       sum(cost_nano_usd)
     FROM usage_days WHERE app_id = $1 GROUP BY 1, 2, 3, 4, 5, 6`,
    [appId],
  );
  for (const table of ['usage_days', 'usage_user_days']) {
    await world.dataSource.query(`DELETE FROM ${table} WHERE app_id = $1`, [appId]);
  }
}

/** The same of everything that is old, up to the first step. */
async function coarsen(): Promise<void> {
  const retention = new UsageRetention(new UsageRetentionRepository());
  await retention.compact(world.dataSource.manager, FIRST_EVENT_DAY, new AbortController().signal);
}

describe('GET usage/timeseries', () => {
  it('events → one bucket for each day and provider type, by date, with all totals', async () => {
    const app = await appWith(
      { ago: 1, provider_type: 'openai', input_tokens: 5, cost_nano_usd: 1_500_000_000 },
      { ago: 1, provider_type: 'anthropic', status: 'provider_error' },
      { ago: 1, provider_type: 'openai', model: 'other', cached_input_tokens: 2, cost_nano_usd: 1 },
      { ago: 2, cache_write_tokens: 3, output_tokens: 7 },
      { ago: 2, status: REFUSED, cost_source: null, requests: 4 },
    );
    const { status, body } = await seriesOf(app);
    expect(status).toBe(200);
    expect(body).toEqual({
      app_id: app,
      from: '2026-10-22',
      to: '2026-11-20',
      buckets: [
        {
          ...{ ...NOTHING, date: '2026-11-18', provider: 'openai' },
          ...{ requests: 5, blocked: 4, cache_write_tokens: 3, output_tokens: 7 },
        },
        { ...NOTHING, date: '2026-11-19', provider: 'anthropic', requests: 1, errors: 1 },
        {
          ...{ ...NOTHING, date: '2026-11-19', provider: 'openai' },
          ...{ requests: 2, input_tokens: 5, cached_input_tokens: 2, cost_usd: 1.500000001 },
        },
      ],
    });
  });

  it('days → UTC, both included', async () => {
    const app = await appWith(...[29, 30].map((ago) => ({ ago })));
    await storeEvents(
      world.dataSource,
      ...[-1, 0, DAY_MS - 1, DAY_MS].map((ms) => ({
        ...{ organization_id: organizationId, app_id: app, created_at_ms: Date.UTC(2026, 5, 10) + ms },
      })),
    );
    expect((await seriesOf(app)).body.buckets).toMatchObject([{ date: '2026-10-22', requests: 1 }]);
    const day = await seriesOf(app, '?from=2026-06-10&to=2026-06-10');
    expect(day.body).toMatchObject({ from: '2026-06-10', to: '2026-06-10', buckets: [{ requests: 2 }] });
    expect((await seriesOf(app, '?to=2026-06-09')).body).toMatchObject({
      from: '2026-05-11',
      buckets: [{ requests: 1 }],
    });
  });

  it('folded month → one bucket, if the whole month is requested', async () => {
    const app = await appWith({ ago: 410 }, { ago: 415, output_tokens: 3 });
    await fold(app);
    const month = { ...NOTHING, date: '2025-10-01', provider: 'openai', requests: 2, output_tokens: 3 };
    expect((await seriesOf(app, '?from=2025-10-01&to=2025-10-31')).body.buckets).toEqual([month]);
    expect((await seriesOf(app, '?from=2025-10-02&to=2025-10-31')).body.buckets).toEqual([]);
    expect((await seriesOf(app, '?from=2025-10-01&to=2025-10-30')).body.buckets).toEqual([]);
  });

  it('no usage, and days before any calendar → no buckets', async () => {
    const app = await appWith();
    expect((await seriesOf(app, '?from=0000-01-01&to=9999-12-31')).body.buckets).toEqual([]);
  });
});

describe('GET usage/breakdown', () => {
  it.each([
    ['model', 'm-1', 'm-2', undefined],
    ['provider', 'groq', 'xai', undefined],
    ['provider_slug', 'a', 'b', null],
    ['provider_gateway', 'gw-1', 'gw-2', null],
    ['credential_source', 'byok', 'direct', null],
    ['model_author', 'A', 'B', null],
    ['user', 'ann', 'bob', null],
    ['status', 'ok', 'provider_error', undefined],
    ['cost_source', 'computed', 'unresolved', null],
    ['route', 'r-1', 'r-2', undefined],
    ['endpoint', 'ask', 'tell', null],
    ['app_version', '1.0', '2.0', null],
  ])('by %s → one row for each, most requests first, then by key', async (by, first, second, none) => {
    const columns: Record<string, string> = {
      provider: 'provider_type',
      provider_gateway: 'provider_gateway_id',
      user: 'user_id',
      endpoint: 'endpoint_slug',
    };
    const column = columns[by] ?? by;
    const events = [second, first, first, second].map((value) => ({ [column]: value }));
    const app = await appWith(...events, ...(none === null ? [1, 2, 3].map(() => ({ [column]: null })) : []));
    const rows = [
      [first, 2],
      [second, 2],
    ];
    expect(await sharesOf(app, `?by=${by}`)).toEqual(none === null ? [[null, 3], ...rows] : rows);
    expect(await sharesOf(app, `?by=${by}&limit=1`)).toEqual(none === null ? [[null, 3]] : [[first, 2]]);
  });

  it('no parameters → by model, over thirty days, with all totals', async () => {
    const app = await appWith(
      {
        input_tokens: 1,
        cached_input_tokens: 2,
        cache_write_tokens: 3,
        output_tokens: 4,
        cost_nano_usd: 5_000_000_000,
      },
      { status: 'provider_error' },
      { status: REFUSED, requests: 3, cost_source: null },
      { ago: 30 },
    );
    const tokens = { input_tokens: 1, cached_input_tokens: 2, cache_write_tokens: 3, output_tokens: 4 };
    const totals = { ...tokens, cost_usd: 5, estimated_cost_usd: 0 };
    expect((await breakdownOf(app)).body).toEqual({
      ...{ app_id: app, by: 'model', from: '2026-10-22', to: '2026-11-20', complete_from: '2026-10-22' },
      rows: [{ key: 'gpt-4.1', requests: 5, ...totals, errors: 1, blocked: 3 }],
    });
  });

  it('keys with equal requests → sorted by their characters, missing ones last', async () => {
    const app = await appWith(...['b', 'B', null, 'a'].map((endpoint_slug) => ({ endpoint_slug })));
    expect(await sharesOf(app, '?by=endpoint')).toEqual([
      ['B', 1],
      ['a', 1],
      ['b', 1],
      [null, 1],
    ]);
  });

  it('by user → errors and refusals of each, and usage without a user separately', async () => {
    const app = await appWith(
      { user_id: 'ann', status: 'provider_error', cost_nano_usd: 7_000_000_000 },
      { user_id: 'ann', status: REFUSED, requests: 2 },
      { status: REFUSED, requests: 6, output_tokens: 1 },
      { ago: 40, user_id: 'bob' },
    );
    expect((await breakdownOf(app, '?by=user')).body.rows).toEqual([
      { ...NOTHING, key: null, requests: 6, blocked: 6, output_tokens: 1 },
      { ...NOTHING, key: 'ann', requests: 3, errors: 1, blocked: 2, cost_usd: 7 },
    ]);
  });

  it.each(USAGE_DIMENSIONS)('folded month by %s → whole, or left out', async (by) => {
    const app = await appWith({ ago: 410, user_id: 'ann', route: 'r' }, { ago: 411 });
    await fold(app);
    const known: Record<string, string> = { model: 'gpt-4.1', provider: 'openai', status: 'ok' };
    const range = { from: '2025-10-01', to: '2025-11-30' };
    const { body } = await breakdownOf(app, `?by=${by}&from=${range.from}&to=${range.to}`);
    const key = known[by];
    expect(body).toMatchObject({ ...range, complete_from: key === undefined ? FIRST_EVENT_DAY : range.from });
    expect(body.rows.map((row: { key: string; requests: number }) => [row.key, row.requests])).toEqual(
      key === undefined ? [] : [[key, 2]],
    );
  });

  it.each(USAGE_DIMENSIONS)('by %s, from before details are kept → older usage is not shown as null', async (by) => {
    const app = await appWith({ ago: 90, ...DETAILS }, { ago: 91, ...DETAILS }, { ago: 120, ...DETAILS });
    const isLasting = ['model', 'provider', 'status'].includes(by);
    for (const isFolded of [false, true]) {
      if (isFolded) await coarsen();
      const { body } = await breakdownOf(app, `?by=${by}&from=2026-07-01`);
      expect(body.complete_from).toBe(isLasting ? '2026-07-01' : FIRST_EVENT_DAY);
      expect(body.rows).toMatchObject([{ key: expect.any(String), requests: isLasting ? 3 : 1 }]);
    }
  });
});

describe('invalid queries', () => {
  it.each([
    ['usage/timeseries', 'from=2026-02-30', 'from'],
    ['usage/timeseries', 'to=2026-13-01', 'to'],
    ['usage/timeseries', 'from=2026-1-1', 'from'],
    ['usage/timeseries', 'from=2026-11-21', 'from'],
    ['usage/timeseries', 'from=2026-11-02&to=2026-11-01', 'from'],
    ['usage/timeseries', 'by=model', 'by'],
    ['usage/breakdown', 'by=nonsense', 'by'],
    ['usage/breakdown', 'by=__proto__', 'by'],
    ['usage/breakdown', 'by=', 'by'],
    ['usage/breakdown', 'limit=0', 'limit'],
    ['usage/breakdown', 'limit=201', 'limit'],
    ['usage/breakdown', 'to=today', 'to'],
    ['usage', 'month=2026-13', 'month'],
    ['events', 'status=bogus', 'status'],
    ['events', 'status=', 'status'],
    ['events', 'provider=bogus', 'provider'],
    ['events', 'provider=OpenAI', 'provider'],
    ['events', 'limit=0', 'limit'],
    ['events', 'before_id=x', 'before_id'],
    ['events', 'cost_source=computed', 'cost_source'],
    ['auth-events', 'event=bogus', 'event'],
    ['auth-events', 'before_id=-1', 'before_id'],
    ['auth-events/summary', 'days=0', 'days'],
    ['users', 'status=bogus', 'status'],
    ['users', 'month=2026-00', 'month'],
    ['users', 'offset=-1', 'offset'],
  ])('%s?%s → 400 naming the parameter', async (route, query, name) => {
    const { id } = await world.app();
    const { status, body } = await world.api.get(`/v1/admin/apps/${id}/${route}?${query}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toMatch(new RegExp(`^${name}: `));
  });

  it.each(['action=bogus', 'from=2026-02-30', 'to=soon', 'limit=0', 'before_id=0', 'actor=x'])(
    'audit-events?%s → 400 naming the parameter',
    async (query) => {
      const { status, body } = await world.api.get(`/v1/admin/audit-events?${query}`);
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
      expect(body.error.message).toMatch(new RegExp(`^${query.split('=')[0]}: `));
    },
  );

  it('unknown application → 404, no credential → 401', async () => {
    for (const route of ['timeseries', 'breakdown']) {
      const path = `/v1/admin/apps/nobody-abc123/usage/${route}?by=nonsense`;
      expect((await world.api.get(path)).body.error.code).toBe('app_not_found');
      expect((await world.as(undefined).get(path)).status).toBe(401);
    }
  });

  it('another application, and one of the same id in another account → not counted', async () => {
    const app = await appWith({});
    await appWith({ requests: 9 });
    await storeEvents(world.dataSource, {
      organization_id: 'foreign',
      app_id: app,
      created_at_ms: TODAY_MS,
      user_id: 'x',
    });
    expect(await sharesOf(app, '?by=user')).toEqual([[null, 1]]);
    expect((await seriesOf(app)).body.buckets).toMatchObject([{ requests: 1 }]);
  });
});

describe('GET events', () => {
  it('rows of refusals → state how many requests they count; every other row counts one', async () => {
    const app = await appWith({}, { status: REFUSED, cost_source: null, requests: 7 });
    const { body } = await world.api.get(`/v1/admin/apps/${app}/events`);
    expect(body.events).toMatchObject([
      { status: REFUSED, requests: 7 },
      { status: 'ok', requests: 1 },
    ]);
  });
});
