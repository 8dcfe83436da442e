import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { UsageLedgerRepository } from '../../../src/commands/ledger/usage-ledger.repository.js';
import { UsageLedger } from '../../../src/commands/ledger/usage-ledger.service.js';
import { FakeClock } from '../../support/clock.js';
import { LimitedApp } from '../../support/limits/requests/limited-app.js';
import { json, silence } from '../../support/proxy/upstream-scripts.js';
import { type EventMembers, storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 24 * 60 * 60 * 1000;
const MONTH = '2026-11';

const clock = new FakeClock(NOW_MS);
let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld({ clock, env: { REDIS_URL: '', PROVIDER_TTFB_TIMEOUT_SECONDS: '1' } });
  [{ id: organizationId }] = await world.dataSource.query('SELECT id FROM organizations');
});

/** After settling, every sum must be the sum of its events. */
afterEach(async () => {
  const ledger = new UsageLedger(new UsageLedgerRepository(world.dataSource), clock);
  expect((await ledger.verify()).findings).toEqual([]);
});

afterAll(() => world.stop());

/** A dollar is known, two more are estimated. */
function anEstimate(app: string, members: Partial<EventMembers> = {}): EventMembers {
  return {
    ...{ organization_id: organizationId, app_id: app, created_at_ms: NOW_MS, cost_source: 'unresolved' },
    ...{ cost_nano_usd: 1e9, charged_nano_usd: 3e9 },
    ...members,
  };
}

function settle(app: string, body: Record<string, unknown> = {}) {
  return world.api.post(`/v1/admin/apps/${app}/usage/settle-estimates`, { month: MONTH, cost: 'zero', ...body });
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads members of an answer that the OpenAPI check proves
async function eventsOf(app: string): Promise<any[]> {
  const { body } = await world.api.get(`/v1/admin/apps/${app}/events?limit=200`);
  return body.events.reverse();
}

const shown = async (app: string) =>
  (await eventsOf(app)).map((event) => [event.cost_usd, event.estimated_cost_usd, event.cost_source]);

async function monthOf(app: string): Promise<number[]> {
  const { body } = await world.api.get(`/v1/admin/apps/${app}/usage?month=${MONTH}`);
  return [body.cost_usd, body.estimated_cost_usd];
}

async function spentBy(app: string): Promise<unknown[]> {
  const rows: { user_id: string; spent: string; estimated: string }[] = await world.dataSource.query(
    `SELECT subject AS user_id, spent_nano_usd AS spent, estimated_nano_usd AS estimated FROM budget_periods
     WHERE window_name = 'month' AND app_id = $1
     ORDER BY subject COLLATE "C"`,
    [app],
  );
  return rows.map(({ user_id, spent, estimated }) => [user_id, Number(spent) / 1e9, Number(estimated) / 1e9]);
}

describe('POST usage/settle-estimates (ADR 0007)', () => {
  it.each([
    ['zero', 1, 0],
    ['estimate', 3, 2],
    [{ usd: 0.25 }, 1.25, 0.25],
  ])('%j → preview reports it, apply does it, and every sum is updated', async (cost, usd, replaced) => {
    const { id: app } = await world.app();
    await storeEvents(
      world.dataSource,
      anEstimate(app, { user_id: 'ann' }),
      anEstimate(app, { created_at_ms: NOW_MS - DAY_MS, status: 'provider_error' }),
      anEstimate(app, { user_id: 'ann', cost_source: 'reported', reported_cost_nano_usd: 1e9 }),
      anEstimate(app, { user_id: 'ann', cost_source: 'computed', charged_nano_usd: null }),
    );
    const figures = {
      ...{ app_id: app, month: MONTH, matched_events: 3, has_more: false },
      ...{ previous_cost_usd: 3, previous_estimated_cost_usd: 6 },
      ...{ settled_cost_usd: 3 * usd, settled_estimated_cost_usd: 0, delta_usd: 3 * (replaced - 2) },
    };
    const before = await eventsOf(app);
    const preview = (await settle(app, { cost })).body;
    expect(preview).toMatchObject({ ...figures, applied: false });
    const one = { previous_cost_usd: 1, previous_estimated_cost_usd: 2, cost_usd: usd, estimated_cost_usd: 0 };
    expect(preview.sample).toMatchObject(before.slice(0, 3).map(({ id, created_at }) => ({ id, created_at, ...one })));
    expect(await eventsOf(app)).toEqual(before);
    expect((await settle(app, { cost, apply: true })).body).toEqual({ ...preview, applied: true });
    expect(await shown(app)).toEqual([
      [usd, 0, 'computed'],
      [usd, 0, 'computed'],
      [usd, 0, 'reported'],
      [1, 0, 'computed'],
    ]);
    const at = new Date(NOW_MS).toISOString();
    expect((await eventsOf(app)).map(({ settled_at }) => settled_at)).toEqual([at, at, at, null]);
    expect(await monthOf(app)).toEqual([3 * usd + 1, 0]);
    expect(await spentBy(app)).toEqual([
      ['', 3 * usd + 1, 0],
      ['ann', 2 * usd + 1, 0],
    ]);
    const [entry] = await world.dataSource.query(
      "SELECT details FROM audit_events WHERE app_id = $1 AND action = 'usage.estimates_settled'",
      [app],
    );
    expect(entry.details).toMatchObject({
      month: MONTH,
      events: 3,
      delta_usd: 3 * (replaced - 2),
      cost: typeof cost === 'string' ? cost : cost.usd,
    });
    expect((await settle(app, { cost, apply: true })).body).toMatchObject({ matched_events: 0, sample: [] });
  });

  it('a filter → events that match all its fields, with ids as shown in the list of events', async () => {
    const { id: app } = await world.app();
    await storeEvents(
      world.dataSource,
      anEstimate(app, { model: 'a' }),
      anEstimate(app, { model: 'b', status: 'provider_error' }),
      anEstimate(app, { model: 'b', provider_type: 'groq' }),
    );
    const ids = (await eventsOf(app)).map(({ id }) => id);
    const matched = async (filter: object) =>
      (await settle(app, { filter })).body.sample.map(({ id }: { id: number }) => ids.indexOf(id));
    expect(await matched({})).toEqual([0, 1, 2]);
    expect(await matched({ model: 'b' })).toEqual([1, 2]);
    expect(await matched({ provider: 'groq' })).toEqual([2]);
    expect(await matched({ status: 'provider_error' })).toEqual([1]);
    expect(await matched({ model: 'b', provider: 'openai' })).toEqual([1]);
    expect(await matched({ event_ids: [ids[0], String(ids[2])] })).toEqual([0, 2]);
    expect(await matched({ event_ids: [ids[0]], model: 'b' })).toEqual([]);
    expect((await settle(app, { apply: true, filter: { event_ids: [ids[1]] } })).body).toMatchObject({
      matched_events: 1,
    });
    expect((await shown(app)).map(([, estimate]) => estimate)).toEqual([2, 0, 2]);
  });

  it('other applications, accounts and months, events older than 90 days → unchanged', async () => {
    const { id: app } = await world.app();
    const { id: other } = await world.app();
    await storeEvents(
      world.dataSource,
      anEstimate(other),
      anEstimate(app, { created_at_ms: Date.UTC(2026, 10, 1) - 1 }),
      anEstimate(app, { created_at_ms: Date.UTC(2026, 7, 22) - 1 }),
      anEstimate(app, { created_at_ms: Date.UTC(2026, 7, 22) }),
    );
    await storeEvents(world.dataSource, anEstimate('foreign-app', { organization_id: 'foreign' }));
    expect((await settle(app, { apply: true })).body).toMatchObject({ matched_events: 0 });
    expect((await settle(app, { month: '2026-08', apply: true })).body).toMatchObject({ matched_events: 1 });
    expect((await settle('foreign-app')).status).toBe(404);
    for (const month of ['0000-01', '9999-12']) {
      expect((await settle(app, { month, apply: true })).body).toMatchObject({ matched_events: 0, delta_usd: 0 });
    }
  });

  it('a settled event → a later reprice does not change it', async () => {
    const { id: app } = await world.app();
    const tokens = { input_tokens: 1_000, model: 'gpt-4.1' };
    await storeEvents(
      world.dataSource,
      anEstimate(app, tokens),
      anEstimate(app, { ...tokens, cost_source: 'computed' }),
    );
    const [{ id }] = await eventsOf(app);
    await settle(app, { apply: true, cost: { usd: 5 }, filter: { event_ids: [id] } });
    const order = { provider: 'openai', model: 'gpt-4.1', month: MONTH, apply: true };
    const { body } = await world.api.post(`/v1/admin/apps/${app}/usage/reprice`, order);
    expect(body).toMatchObject({ matched_events: 1 });
    expect((await shown(app))[0]).toEqual([6, 0, 'computed']);
  });

  it('more than 10 000 events → the oldest are settled first; repeating settles the rest', async () => {
    const { id: app } = await world.app();
    for (let first = 0; first < 10_500; first += 500) {
      await storeEvents(
        world.dataSource,
        ...Array.from({ length: 500 }, (_, at) => anEstimate(app, { user_id: `user-${at % 50}` })),
      );
    }
    expect((await settle(app, { apply: true })).body).toMatchObject({ matched_events: 10_000, has_more: true });
    expect(await monthOf(app)).toEqual([10_500, 1_000]);
    expect((await settle(app, { apply: true })).body).toMatchObject({ matched_events: 500, has_more: false });
    expect(await monthOf(app)).toEqual([10_500, 0]);
  });

  it.each<[object, string]>([
    [{ month: '2026-13' }, 'month'],
    [{ month: undefined }, 'month'],
    [{ apply: 'true' }, 'apply'],
    [{ cost: undefined }, 'cost'],
    [{ cost: null }, 'cost'],
    [{ cost: 'nothing' }, 'cost'],
    [{ cost: 0 }, 'cost'],
    [{ cost: [] }, 'cost'],
    [{ cost: {} }, 'cost.usd'],
    [{ cost: { usd: -1 } }, 'cost.usd'],
    [{ cost: { usd: 10_001 } }, 'cost.usd'],
    [{ cost: { usd: '1' } }, 'cost.usd'],
    [{ cost: { usd: 1, eur: 1 } }, 'cost.eur'],
    [{ filter: [] }, 'filter'],
    [{ filter: null }, 'filter'],
    [{ filter: { user: 'ann' } }, 'filter.user'],
    [{ filter: { provider: 'nobody' } }, 'filter.provider'],
    [{ filter: { model: '' } }, 'filter.model'],
    [{ filter: { model: 'm\u0000' } }, 'filter.model'],
    [{ filter: { status: 'fine' } }, 'filter.status'],
    [{ filter: { event_ids: [] } }, 'filter.event_ids'],
    [{ filter: { event_ids: Array(1_001).fill(1) } }, 'filter.event_ids'],
    [{ filter: { event_ids: [1, 'x'] } }, 'filter.event_ids.1'],
    [{ filter: { event_ids: [1.5] } }, 'filter.event_ids.0'],
    [{ filter: { event_ids: [0] } }, 'filter.event_ids.0'],
    [{ force: true }, 'force'],
  ])('%j → 400 naming the member', async (members, name) => {
    const { id: app } = await world.app();
    const { status, body } = await settle(app, { ...members });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message.slice(0, name.length + 2)).toBe(`${name}: `);
  });

  it('a budget used up by hanging calls → after settling, the next call is served', async () => {
    const app = await LimitedApp.create(world, { per_app: { spending: { monthly_usd: 0.00002 } } });
    const id = app.client.appId;
    world.upstream.script(silence());
    expect(await app.calls(1)).toEqual([504]);
    await app.recorded('provider_error');
    world.upstream.script(json(200, {}));
    expect(await app.refused()).toMatchObject({ data: { scope: 'app', cost_usd: 0 } });
    expect((await settle(id, { apply: true, filter: { status: 'provider_error' } })).body).toMatchObject({
      matched_events: 1,
    });
    expect((await app.call()).status).toBe(200);
  });
});

describe('concurrent settling', () => {
  it('writers, reprices and two concurrent settlements → each event settled once, every sum the sum of its events', async () => {
    const { id: app } = await world.app();
    const batch = (round: number) =>
      Array.from({ length: 40 }, (_, at) =>
        anEstimate(app, {
          ...{ model: at % 2 === 0 ? 'gpt-4.1' : 'other', user_id: `user-${(at * 7 + round) % 9}` },
          ...{ input_tokens: at % 3, created_at_ms: NOW_MS - (at % 3) * DAY_MS },
        }),
      );
    const write = async () => {
      for (let round = 0; round < 12; round++) await storeEvents(world.dataSource, ...batch(round));
    };
    let settled = 0;
    const run = async () => {
      for (let round = 0; round < 8; round++) {
        const { body } = await settle(app, { apply: true, cost: 'estimate' });
        settled += body.matched_events;
      }
    };
    const reprice = async () => {
      const order = { provider: 'openai', model: 'gpt-4.1', month: MONTH, apply: true };
      for (let round = 0; round < 8; round++) {
        expect((await world.api.post(`/v1/admin/apps/${app}/usage/reprice`, order)).status).toBe(200);
      }
    };
    await Promise.all([write(), write(), run(), run(), reprice()]);
    await run();
    const [{ count }] = await world.dataSource.query(
      'SELECT count(*)::integer AS count FROM usage_events WHERE app_id = $1 AND settled_at IS NOT NULL',
      [app],
    );
    expect(settled).toBe(count);
    expect((await monthOf(app))[1]).toBe(0);
  });
});
