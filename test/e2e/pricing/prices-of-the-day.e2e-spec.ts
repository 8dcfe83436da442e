import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FakeClock } from '../../support/clock.js';
import { EndpointClient } from '../../support/proxy/endpoint-client.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { storeEvents } from '../../support/usage/recording/usage-events.js';
import { startWorld, type World } from '../../support/world.js';

const HOUR_MS = 60 * 60 * 1000;
/** On this day the catalog lowers `gpt-5.6-sol` from 5 and 30 dollars to 4 and 20. */
const CHANGE_MS = Date.UTC(2026, 7, 21);
const MODEL = 'gpt-5.6-sol';
const RESPONSES = 'v1/responses';
const ANSWER = { usage: { input_tokens: 1_000, output_tokens: 100 } };
const OLD_USD = 0.008;
const NEW_USD = 0.006;

const clock = new FakeClock(CHANGE_MS - 1);
let world: World;

beforeAll(async () => {
  world = await startWorld({ clock });
  world.upstream.script(json(200, ANSWER));
});

afterAll(() => world.stop());

const priceOfList = async () => (await world.api.get('/v1/admin/prices')).body.prices.openai[MODEL];

describe('GET prices of a day', () => {
  const on = async (day: string) => (await world.api.get(`/v1/admin/prices?day=${day}`)).body;

  it('a day before, on and after a change → the prices in force, including announced ones', async () => {
    expect((await on('2026-08-20')).prices.openai[MODEL]).toMatchObject({ input: 5, output: 30 });
    expect((await on('2026-08-21')).prices.openai[MODEL]).toMatchObject({ input: 4, output: 20 });
    expect((await on('2027-01-31')).prices.openai[MODEL]).toMatchObject({ input: 4, output: 20 });
  });

  it.each(['2026-02-30', '2026-13-01', 'today', '2026-08-21T00:00'])('%s → 400 naming day', async (day) => {
    expect((await on(day)).error.message).toMatch(/^day: /);
  });
});

describe('a price that changes at midnight UTC (ADR 0032)', () => {
  it('calls, named endpoints and the list before and after the change → each at the price of its day, without a restart', async () => {
    const proxy = await ProxyClient.create(world);
    const endpoint = await EndpointClient.create(world, { endpoint: { model: MODEL } });
    const costs = async (count: number) => {
      const [ofProxy, ofEndpoint] = await Promise.all([proxy.events(count), endpoint.proxy.events(count)]);
      return [ofProxy[0].cost_usd, ofEndpoint[0].cost_usd];
    };
    await proxy.call(RESPONSES, { body: { model: MODEL } });
    await endpoint.call();
    expect(await costs(1)).toEqual([OLD_USD, OLD_USD]);
    expect(await priceOfList()).toMatchObject({ input: 5, output: 30 });
    clock.advance(1);
    await proxy.call(RESPONSES, { body: { model: MODEL } });
    await endpoint.call();
    expect(await costs(2)).toEqual([NEW_USD, NEW_USD]);
    expect(await priceOfList()).toMatchObject({ input: 4, output: 20 });
  });

  it('reprice of a month in which prices changed → every event at the price of its own day', async () => {
    const { id: app } = await world.app();
    const [{ id: organization_id }] = await world.dataSource.query('SELECT id FROM organizations');
    const days = [-48, -1, 0, 24].map((hours) => CHANGE_MS + hours * HOUR_MS);
    await storeEvents(
      world.dataSource,
      ...days.map((created_at_ms) => ({
        ...{ organization_id, app_id: app, created_at_ms, model: MODEL, cost_nano_usd: 1 },
        ...{ input_tokens: 1_000, output_tokens: 100 },
      })),
    );
    const order = { provider: 'openai', model: MODEL, month: '2026-08', apply: true };
    const { status, body } = await world.api.post(`/v1/admin/apps/${app}/usage/reprice`, order);
    expect([status, body.matched_events, body.recalculated_cost_usd]).toEqual([200, 4, 2 * (OLD_USD + NEW_USD)]);
    const events = (await world.api.get(`/v1/admin/apps/${app}/events`)).body.events;
    expect(events.map(({ cost_usd }: { cost_usd: number }) => cost_usd)).toEqual([NEW_USD, NEW_USD, OLD_USD, OLD_USD]);
  });
});
