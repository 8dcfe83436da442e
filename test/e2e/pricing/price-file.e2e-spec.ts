import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { EndpointClient } from '../../support/proxy/endpoint-client.js';
import { ProxyClient } from '../../support/proxy/proxy-client.js';
import { json } from '../../support/proxy/upstream-scripts.js';
import { WatchedFileOnDisk } from '../../support/watched-file-on-disk.js';
import { startWorld, type World } from '../../support/world.js';

const MODEL = 'gpt-5.6-sol';
const RESPONSES = 'v1/responses';
const ANSWER = { usage: { input_tokens: 1_000, output_tokens: 100 } };
const INSTANT = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/);

const file = new WatchedFileOnDisk<'prices_file_read' | 'prices_file_unreadable'>('prices_file_read');
const pricesOf = (input: number) => ({
  prices: { openai: { [MODEL]: { input, output: 0 }, 'gpt-of-tomorrow': { input, output: 0 } } },
});

let world: World;
let proxy: ProxyClient;
let calls = 0;

beforeAll(async () => {
  file.write(pricesOf(10));
  world = await startWorld({ env: { PRICES_FILE: file.path } });
  world.upstream.script(json(200, ANSWER));
  proxy = await ProxyClient.create(world);
});

afterAll(async () => {
  await world.stop();
  file.remove();
});

async function costOf(model: string): Promise<number> {
  expect((await proxy.call(RESPONSES, { body: { model } })).status).toBe(200);
  calls += 1;
  return (await proxy.events(calls))[0].cost_usd;
}

const listed = async () => (await world.api.get('/v1/admin/prices')).body.prices;

describe('PRICES_FILE', () => {
  it('calls of its models, also by alias → its prices; other models → the built-in ones; the list has both', async () => {
    expect([await costOf(MODEL), await costOf('gpt-of-tomorrow'), await costOf('gpt-of-tomorrow-2027-01-02')]).toEqual([
      ...[0.01, 0.01, 0.01],
    ]);
    expect(await costOf('gpt-4.1')).toBe(0.0028);
    expect((await listed()).openai).toMatchObject({ [MODEL]: { input: 10, output: 0 }, 'gpt-4.1': { input: 2 } });
  });

  it('another version → calls and named endpoints use its prices, recorded events stay unchanged', async () => {
    const endpoint = await EndpointClient.create(world, { endpoint: { model: MODEL } });
    const ofEndpoint = async (count: number) => (await endpoint.proxy.events(count))[0].cost_usd;
    await endpoint.call();
    expect(await ofEndpoint(1)).toBe(0.01);
    await file.hand(world, pricesOf(20));
    expect(await costOf(MODEL)).toBe(0.02);
    await endpoint.call();
    expect(await ofEndpoint(2)).toBe(0.02);
    expect((await endpoint.proxy.events(2)).map(({ cost_usd }) => cost_usd)).toEqual([0.02, 0.01]);
    expect((await listed()).openai[MODEL]).toEqual({ input: 20, output: 0 });
  });

  it('rates of tiers and of quantities in a request → charged for calls and shown in the list', async () => {
    const tiered = { input: 10, output: 0, tiers: { priority: { input: 30 } } };
    const perRequest = { per_request: 0.25 };
    await file.hand(world, { prices: { openai: { [MODEL]: tiered, 'gpt-of-tomorrow': perRequest } } });
    world.upstream.script(json(200, { ...ANSWER, service_tier: 'priority' }));
    expect(await costOf(MODEL)).toBe(0.03);
    expect(await costOf('gpt-of-tomorrow')).toBe(0.25);
    expect((await listed()).openai).toMatchObject({ [MODEL]: tiered, 'gpt-of-tomorrow': perRequest });
    world.upstream.script(json(200, ANSWER));
  });

  it('a call admitted before another version → the prices at its admission', async () => {
    await file.hand(world, pricesOf(50));
    const admitted = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    world.upstream.script(async (exchange) => {
      admitted.resolve();
      await taken.promise;
      await json(200, ANSWER)(exchange);
    });
    const cost = costOf(MODEL);
    await admitted.promise;
    await file.hand(world, pricesOf(60));
    taken.resolve();
    expect(await cost).toBe(0.05);
    world.upstream.script(json(200, ANSWER));
  });

  it('an invalid version, then no file → the last valid one; a valid one → in force', async () => {
    await file.hand(world, pricesOf(30));
    const { prices } = (await world.api.get('/v1/admin/deployment')).body;
    expect(prices).toEqual({ source: 'file', date: INSTANT });
    await file.hand(world, { prices: { openai: { [MODEL]: { input: 40 } } } }, 'prices_file_unreadable');
    expect(await costOf(MODEL)).toBe(0.03);
    await file.take(world, 'prices_file_unreadable');
    expect(await costOf(MODEL)).toBe(0.03);
    expect((await world.api.get('/v1/admin/deployment')).body.prices).toEqual(prices);
    await file.hand(world, pricesOf(40));
    expect(await costOf(MODEL)).toBe(0.04);
  });

  it('invalid or missing at the start → the service refuses to start and says why', async () => {
    const missing = `${file.path}.none`;
    await expect(startWorld({ env: { PRICES_FILE: missing } })).rejects.toThrow(
      `PRICES_FILE ${missing} cannot be used: ENOENT`,
    );
    file.write({ prices: { acme: {} } });
    await expect(startWorld({ env: { PRICES_FILE: file.path } })).rejects.toThrow(
      `PRICES_FILE ${file.path} cannot be used: file.prices.acme: is not a provider type`,
    );
  });
});
