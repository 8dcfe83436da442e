import { afterEach, expect, it } from '@jest/globals';
import request from 'supertest';
import { eventually } from '../../../support/eventually.js';
import { Exposition } from '../../../support/health/metrics/exposition.js';
import { type FurtherInstance, startFurtherInstance } from '../../../support/platform/further-instance.js';
import { describeBreakingRedis, describeWithRedis, reachRedis, startRedis } from '../../../support/platform/redis.js';
import { startTcpProxy } from '../../../support/platform/tcp-proxy.js';
import { RESPONSE } from '../../../support/proxy/endpoint-chain.js';
import { ProxyClient } from '../../../support/proxy/proxy-client.js';
import { json } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

/** Far more than the 4.5 seconds after which a frozen connection is known to be dead. */
const NOTICED_MS = 20_000;

let ends: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const end of ends.reverse()) await end();
  ends = [];
});

async function scraped(baseUrl: string): Promise<Exposition> {
  return new Exposition((await request(baseUrl).get('/metrics').expect(200)).text);
}

/** Waits until a gauge has this value. */
async function expectGauge(baseUrl: string, name: string, value: number): Promise<void> {
  let told: number | undefined;
  await eventually(
    async () => {
      told = (await scraped(baseUrl)).samples.find((sample) => sample.name === name)?.value;
      return told === value;
    },
    { withinMs: NOTICED_MS },
  ).catch(() => expect([name, told]).toEqual([name, value]));
}

async function started(env: Record<string, string>): Promise<World> {
  const world = await startWorld({ env });
  ends.push(() => world.stop());
  return world;
}

describeWithRedis('a scrape while Postgres does not answer', () => {
  it('the database is unavailable → the scrape is answered and counts what waits for the database', async () => {
    const redis = await reachRedis();
    ends.push(() => redis.stop());
    const world = await started({ REDIS_URL: redis.url });
    const url = new URL(world.databaseUrl);
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port || 5432) });
    ends.push(() => proxy.close());
    url.host = `127.0.0.1:${proxy.port}`;
    const cut: FurtherInstance = await startFurtherInstance(world, url.href);
    ends.push(() => cut.stop());
    const { appId, key, slug } = await ProxyClient.create(world);
    world.upstream.script(json(200, RESPONSE));
    const call = () =>
      request(cut.baseUrl)
        .post(`/v1/apps/${appId}/proxy/${slug}/v1/responses`)
        .set('authorization', `Bearer ${key}`)
        .send({ model: 'gpt-4.1' })
        .expect(200);
    await call();
    await expectGauge(cut.baseUrl, 'gateway_usage_events_pending', 0);
    await expectGauge(cut.baseUrl, 'gateway_database_connected', 1);
    proxy.freeze();
    await call();
    await expectGauge(cut.baseUrl, 'gateway_database_connected', 0);
    const exposition = await scraped(cut.baseUrl);
    expect(exposition.sum('gateway_usage_events_pending')).toBe(1);
    expect(exposition.sum('gateway_config_notifications_connected')).toBe(0);
    expect(exposition.sum('gateway_log_events_total', { event: 'config_changes_lost' })).toBeGreaterThan(0);
    proxy.thaw();
    await expectGauge(cut.baseUrl, 'gateway_database_connected', 1);
    await expectGauge(cut.baseUrl, 'gateway_usage_events_pending', 0);
  });
});

describeBreakingRedis('Redis in a scrape', () => {
  it('connected, lost, connected again → 1, 0, 1', async () => {
    const redis = await startRedis();
    ends.push(() => redis.stop());
    const { baseUrl } = await started({ REDIS_URL: redis.url });
    await expectGauge(baseUrl, 'gateway_redis_connected', 1);
    await redis.kill();
    await expectGauge(baseUrl, 'gateway_redis_connected', 0);
    await redis.revive();
    await expectGauge(baseUrl, 'gateway_redis_connected', 1);
  });

  it('no REDIS_URL → not mentioned', async () => {
    const { baseUrl } = await started({ REDIS_URL: '' });
    expect((await scraped(baseUrl)).names).not.toContain('gateway_redis_connected');
  });
});
