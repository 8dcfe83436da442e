import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ManagementKeysService } from '../../../src/accounts/management-keys/management-keys.service.js';
import { UsageLedgerRepository } from '../../../src/commands/ledger/usage-ledger.repository.js';
import { UsageLedger } from '../../../src/commands/ledger/usage-ledger.service.js';
import { Secret } from '../../../src/common/log/secret.js';
import { UsageRepriceService } from '../../../src/repricing/usage-reprice.service.js';
import { FakeClock } from '../../support/clock.js';
import { type EventMembers, storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const DAY_MS = 24 * 60 * 60 * 1000;
const MONTH = '2026-11';
const MODEL = 'house-model';
const OLD = { input: 1, output: 1 };
const DEARER = { input: 2, output: 8 };
/** The charge of a call of unknown cost. */
const CHARGED = 700_000_000;
const UNRESOLVED = { cost_source: 'unresolved', cost_nano_usd: 0, charged_nano_usd: CHARGED };

const clock = new FakeClock(NOW_MS);
let world: World;
let organizationId: string;

beforeAll(async () => {
  world = await startWorld({ clock });
  [{ id: organizationId }] = await world.dataSource.query('SELECT id FROM organizations');
});

afterAll(() => world.stop());

/** After every test, because no reprice may leave anything that is not the sum of its events. */
async function expectLedgerInStep(): Promise<void> {
  const ledger = new UsageLedger(new UsageLedgerRepository(world.dataSource), clock);
  expect((await ledger.verify()).findings).toEqual([]);
}

let slugs = 0;

async function aProvider(price: object): Promise<string> {
  const { id } = await world.provider({ slug: `priced-${++slugs}`, pricing: { [MODEL]: price } });
  return id;
}

async function setPrice(providerId: string, price: object): Promise<void> {
  const { status, text } = await world.api.put(`/v1/admin/providers/${providerId}`, { pricing: { [MODEL]: price } });
  if (status !== 200) throw new Error(text);
}

/** An event of 1 000 and 500 tokens, at the old price. */
function anEvent(app: string, members: Partial<EventMembers> = {}): EventMembers {
  return {
    ...{ organization_id: organizationId, app_id: app, created_at_ms: NOW_MS, model: MODEL },
    ...{ input_tokens: 1_000, output_tokens: 500, cost_nano_usd: 1_500_000 },
    ...members,
  };
}

/** The charges of budgets, by user. */
async function spentBy(app: string): Promise<[string, number][]> {
  const rows: { user_id: string; spent: string }[] = await world.dataSource.query(
    `SELECT subject AS user_id, spent_nano_usd AS spent FROM budget_periods
     WHERE app_id = $1 AND window_name = 'month' ORDER BY subject COLLATE "C"`,
    [app],
  );
  return rows.map(({ user_id, spent }) => [user_id, Number(spent)]);
}

function reprice(app: string, body: Record<string, unknown> = {}) {
  return world.api.post(`/v1/admin/apps/${app}/usage/reprice`, {
    provider: 'openai',
    model: MODEL,
    month: MONTH,
    ...body,
  });
}

async function eventsOf(app: string) {
  const { body } = await world.api.get(`/v1/admin/apps/${app}/events?limit=200`);
  return body.events
    .map((event: { cost_usd: number; cost_source: string }) => [event.cost_usd, event.cost_source])
    .reverse();
}

/** Its audit entries. */
function repricesOf(app: string): Promise<object[]> {
  return world.dataSource.query(
    "SELECT action, actor_id, details FROM audit_events WHERE app_id = $1 AND action LIKE 'usage.%' ORDER BY id",
    [app],
  );
}

describe('POST usage/reprice', () => {
  it('preview → what would change, without writing; apply → the same changes, and every sum is updated', async () => {
    const { id: app } = await world.app();
    const provider = await aProvider(OLD);
    await storeEvents(
      world.dataSource,
      anEvent(app, { provider_id: provider, user_id: 'ann' }),
      anEvent(app, { provider_id: provider, user_id: 'ann', created_at_ms: NOW_MS - DAY_MS }),
      anEvent(app, { provider_id: provider, user_id: 'bob', ...UNRESOLVED }),
      anEvent(app, {
        provider_id: provider,
        input_tokens: 0,
        output_tokens: 0,
        ...UNRESOLVED,
      }),
    );
    expect(await spentBy(app)).toEqual([
      ['', 3_000_000 + 2 * CHARGED],
      ['ann', 3_000_000],
      ['bob', CHARGED],
    ]);
    await setPrice(provider, DEARER);
    const figures = {
      ...{ app_id: app, provider: 'openai', model: MODEL, month: MONTH },
      ...{ matched_events: 4, unmetered_events: 1, unpriced_events: 0, unpriced_cost_usd: 0 },
      ...{ previous_cost_usd: 0.003, recalculated_cost_usd: 0.018, delta_usd: 0.015 },
    };
    const before = await eventsOf(app);
    const preview = await reprice(app);
    expect([preview.status, preview.body]).toEqual([200, { ...figures, applied: false }]);
    expect(await eventsOf(app)).toEqual(before);

    const applied = await reprice(app, { apply: true });
    expect([applied.status, applied.body]).toEqual([200, { ...figures, applied: true }]);
    expect(await eventsOf(app)).toEqual([...Array(3).fill([0.006, 'computed']), [0, 'unresolved']]);
    const path = `/v1/admin/apps/${app}/usage`;
    expect((await world.api.get(`${path}?month=${MONTH}`)).body).toMatchObject({ requests: 4, cost_usd: 0.018 });
    expect((await world.api.get(`${path}/breakdown?by=user`)).body.rows).toMatchObject([
      { key: 'ann', cost_usd: 0.012 },
      { key: 'bob', cost_usd: 0.006 },
      { key: null, cost_usd: 0 },
    ]);
    expect((await world.api.get(`${path}/breakdown?by=cost_source`)).body.rows).toMatchObject([
      { key: 'computed', requests: 3, cost_usd: 0.018 },
      { key: 'unresolved', requests: 1, cost_usd: 0 },
    ]);
    expect(await spentBy(app)).toEqual([
      ['', 18_000_000 + CHARGED],
      ['ann', 12_000_000],
      ['bob', 6_000_000],
    ]);
    expect((await reprice(app, { apply: true })).body).toMatchObject({ previous_cost_usd: 0.018, delta_usd: 0 });
    const details = { provider: 'openai', model: MODEL, month: MONTH, events: 3, delta_usd: 0.015 };
    expect(await repricesOf(app)).toEqual([{ action: 'usage.repriced', actor_id: expect.any(String), details }]);
    await expectLedgerInStep();
  });

  it('the last events of a cost source change it → no empty sum is left', async () => {
    const { id: app } = await world.app();
    const provider = await aProvider(DEARER);
    await storeEvents(
      world.dataSource,
      anEvent(app, { provider_id: provider, cost_source: 'unresolved', cost_nano_usd: 0 }),
    );
    await reprice(app, { apply: true });
    const rows = await world.dataSource.query('SELECT cost_source, requests FROM usage_days WHERE app_id = $1', [app]);
    expect(rows).toEqual([{ cost_source: 'computed', requests: '1' }]);
  });

  it('another app, type, model or month, reported costs, refusals, other accounts → unchanged', async () => {
    const { id: app } = await world.app();
    const { id: other } = await world.app();
    const provider_id = await aProvider(DEARER);
    const left = [
      anEvent(other, { provider_id }),
      anEvent(app, { provider_id, provider_type: 'groq' }),
      anEvent(app, { provider_id, model: 'another' }),
      anEvent(app, { provider_id, created_at_ms: Date.UTC(2026, 10, 1) - 1 }),
      anEvent(app, { provider_id, created_at_ms: Date.UTC(2026, 11, 1) }),
      anEvent(app, { provider_id, cost_source: 'reported', reported_cost_nano_usd: 1_500_000 }),
      anEvent(app, { provider_id, cost_source: null, status: 'blocked_user', input_tokens: 0, cost_nano_usd: 0 }),
    ];
    await storeEvents(world.dataSource, anEvent(app, { provider_id, organization_id: 'foreign', cost_nano_usd: 0 }));
    await storeEvents(world.dataSource, ...left, anEvent(app, { provider_id, created_at_ms: Date.UTC(2026, 10, 1) }));
    expect((await reprice(app, { apply: true })).body).toMatchObject({ matched_events: 1, delta_usd: 0.0045 });
    const changed = "SELECT count(*) AS count FROM usage_events WHERE app_id = ANY($1) AND cost_nano_usd = '6000000'";
    expect(await world.dataSource.query(changed, [[app, other]])).toEqual([{ count: '1' }]);
    await expectLedgerInStep();
  });

  it('the instance that served is deleted, or has no custom price → the catalog price', async () => {
    const { id: app } = await world.app();
    const priced = { pricing: { 'gpt-4.1': { input: 1, output: 1 } } };
    const { id: kept } = await world.provider({ slug: 'own-price', ...priced });
    const { id: gone } = await world.provider({ slug: 'soon-gone', ...priced });
    const { id: plain } = await world.provider({ slug: 'plain' });
    await world.api.delete(`/v1/admin/providers/${gone}`);
    const model = 'gpt-4.1';
    const ids = [kept, gone, plain, undefined];
    await storeEvents(world.dataSource, ...ids.map((provider_id) => anEvent(app, { provider_id, model })));
    expect((await reprice(app, { model, apply: true })).body).toMatchObject({ matched_events: 4 });
    const catalog = [0.006, 'computed'];
    expect(await eventsOf(app)).toEqual([[0.0015, 'computed'], catalog, catalog, catalog]);
    await expectLedgerInStep();
  });

  it('rates of requests, images, characters, searches and tiers → each at the new rate, and every sum is updated', async () => {
    const { id: app } = await world.app();
    const provider_id = await aProvider({ ...OLD, per_request: 0.01 });
    const withParts = (parts: Record<string, number>, members: Partial<EventMembers> = {}) =>
      anEvent(app, { provider_id, user_id: 'ann', usage_parts: parts, ...members });
    await storeEvents(
      world.dataSource,
      withParts({ requests: 1 }),
      withParts({ requests: 1, images: 2 }, { input_tokens: 0, output_tokens: 0 }),
      withParts({ requests: 1, characters: 500 }, { input_tokens: 0, output_tokens: 0 }),
      withParts({ requests: 1, web_search: 3 }),
      withParts({ requests: 1, priority_tier: 1 }),
      withParts({ requests: 1, flex_tier: 1 }),
    );
    const searched = { ...DEARER, per_1k_web_searches: 10 };
    const tiers = { priority: { input: 4, per_request: 0.05 }, flex: { output: 4 } };
    await setPrice(provider_id, { ...searched, per_request: 0.02, per_image: 0.04, per_1k_characters: 0.03, tiers });
    const costs = [
      ...[0.006 + 0.02, 2 * 0.04 + 0.02, 0.015 + 0.02, 0.006 + 0.03 + 0.02],
      ...[0.004 + 0.004 + 0.05, 0.002 + 0.002 + 0.02],
    ].map((usd) => Math.round(usd * 1e9));
    const total = costs.reduce((sum, cost) => sum + cost, 0);
    expect((await reprice(app, { apply: true })).body).toMatchObject({
      ...{ matched_events: 6, unpriced_events: 0, unmetered_events: 0, recalculated_cost_usd: total / 1e9 },
    });
    expect(await eventsOf(app)).toEqual(costs.map((cost) => [cost / 1e9, 'computed']));
    expect(await spentBy(app)).toEqual([
      ['', total],
      ['ann', total],
    ]);
    await expectLedgerInStep();
  });

  it('one event without a price → preview counts it, apply → 400 and nothing is written', async () => {
    const { id: app } = await world.app();
    const provider_id = await aProvider(DEARER);
    await storeEvents(world.dataSource, anEvent(app, { provider_id }), anEvent(app));
    expect((await reprice(app)).body).toMatchObject({
      ...{ applied: false, matched_events: 1, unpriced_events: 1, unpriced_cost_usd: 0.0015 },
      ...{ previous_cost_usd: 0.0015, delta_usd: 0.0045 },
    });
    const { status, body } = await reprice(app, { apply: true });
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toMatch(/^apply: 1 /);
    expect(await repricesOf(app)).toEqual([]);
    expect(await eventsOf(app)).toEqual(Array(2).fill([0.0015, 'computed']));
  });

  it('10 000 events → repriced at once; one more → 400 and nothing is written', async () => {
    const { id: app } = await world.app();
    const provider_id = await aProvider(DEARER);
    const row = (index: number) =>
      anEvent(app, { provider_id, user_id: `user-${index % 500}`, created_at_ms: NOW_MS - index });
    for (let first = 0; first < 10_000; first += 500) {
      await storeEvents(world.dataSource, ...Array.from({ length: 500 }, (_, index) => row(first + index)));
    }
    expect((await reprice(app, { apply: true })).body).toMatchObject({ matched_events: 10_000, delta_usd: 45 });
    await setPrice(provider_id, OLD);
    await storeEvents(world.dataSource, row(0));
    for (const apply of [true, false]) {
      const { status, body } = await reprice(app, { apply });
      expect([status, body.error.code, body.error.message]).toEqual([
        400,
        'invalid_request',
        expect.stringMatching(/^month: /),
      ]);
    }
    expect((await world.api.get(`/v1/admin/apps/${app}/usage?month=${MONTH}`)).body.cost_usd).toBe(60.0015);
    await expectLedgerInStep();
  });

  it('events older than 90 days → left to the nightly work', async () => {
    const { id: app } = await world.app();
    const provider_id = await aProvider(DEARER);
    const firstMs = Date.UTC(2026, 7, 22);
    const ages = [firstMs - 1, firstMs];
    await storeEvents(world.dataSource, ...ages.map((created_at_ms) => anEvent(app, { provider_id, created_at_ms })));
    expect((await reprice(app, { month: '2026-08', apply: true })).body).toMatchObject({ matched_events: 1 });
    expect(await eventsOf(app)).toEqual([
      [0.0015, 'computed'],
      [0.006, 'computed'],
    ]);
  });

  it.each([
    [{ provider: 'nobody' }, 'provider'],
    [{ provider: undefined }, 'provider'],
    [{ model: '' }, 'model'],
    [{ model: undefined }, 'model'],
    [{ month: '2026-13' }, 'month'],
    [{ month: undefined }, 'month'],
    [{ apply: 'true' }, 'apply'],
    [{ apply: null }, 'apply'],
    [{ force: true }, 'force'],
  ])('%j → 400 naming the member', async (members, name) => {
    const { id: app } = await world.app();
    const { status, body } = await reprice(app, members);
    expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    expect(body.error.message).toMatch(new RegExp(`^${name}: `));
  });

  it('no events, and a month before any calendar → zeros', async () => {
    const { id: app } = await world.app();
    for (const month of ['0000-01', '9999-12', MONTH]) {
      expect((await reprice(app, { month, apply: true })).body).toMatchObject({
        applied: true,
        matched_events: 0,
        delta_usd: 0,
      });
    }
  });
});

describe('concurrent repricing', () => {
  it('writers and reprices of two models at once → every sum is the sum of its events', async () => {
    const { id: app } = await world.app();
    const provider_id = await aProvider(OLD);
    const service = world.gateway.app.get(UsageRepriceService);
    const keys = world.gateway.app.get(ManagementKeysService);
    const admin = await keys.authenticate(new Secret(world.managementKey), 'api');
    if (admin === undefined) throw new Error('the key of the world opens nothing');
    const models = [MODEL, 'gpt-4.1'];
    const ref = { id: app, organizationId };
    const batch = (round: number) =>
      Array.from({ length: 60 }, (_, index) =>
        anEvent(app, {
          ...{ provider_id, model: models[index % 2], user_id: `user-${(index * 7 + round) % 9}` },
          ...{ created_at_ms: NOW_MS - (index % 3) * DAY_MS, cost_nano_usd: index % 4 === 0 ? 0 : 1_500_000 },
          cost_source: index % 4 === 0 ? 'unresolved' : 'computed',
        }),
      );
    const write = async () => {
      for (let round = 0; round < 20; round++) await storeEvents(world.dataSource, ...batch(round));
    };
    const run = async (model: string | undefined) => {
      for (let round = 0; round < 8; round++) {
        await service.run(admin, ref, { provider: 'openai', model: model ?? '', month: MONTH, apply: true });
      }
    };
    const change = async () => {
      for (const price of [DEARER, OLD, DEARER]) await setPrice(provider_id, price);
    };
    await Promise.all([write(), write(), run(models[0]), run(models[0]), run(models[1]), run(models[1]), change()]);
    await expectLedgerInStep();
    await run(models[0]);
    expect((await eventsOf(app)).filter(([, source]: [number, string]) => source === 'unresolved')).toEqual([]);
    await expectLedgerInStep();
  });
});
