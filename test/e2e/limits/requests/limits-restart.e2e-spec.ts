import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../../../support/eventually.js';
import { LimitedApp, rateLimited } from '../../../support/limits/requests/limited-app.js';
import { freePort, GatewayProcess } from '../../../support/platform/gateway-process.js';
import { RESPONSE } from '../../../support/proxy/endpoint-chain.js';
import { ProxyClient } from '../../../support/proxy/proxy-client.js';
import { json } from '../../../support/proxy/upstream-scripts.js';
import { startWorld, type World } from '../../../support/world.js';

const MINUTE_MS = 60_000;
/** For two starts on a busy machine and the calls between them. */
const LEFT_MS = 30_000;
const LIMITS = {
  per_user: { requests: { per_minute: 6, per_day: null } },
  per_app: { requests: { per_minute: 9, per_day: null } },
};

let world: World;
let gateway: GatewayProcess;
let app: LimitedApp;

beforeEach(async () => {
  world = await startWorld({ env: { REDIS_URL: '' } });
  const { client } = await LimitedApp.create(world, LIMITS);
  await world.gateway.stop('test');
  gateway = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, { ...world.environment, LOG_LEVEL: 'warn' });
  const there = { ...world, baseUrl: gateway.baseUrl };
  app = LimitedApp.of(there, new ProxyClient(there, client.appId, client.key, client.slug, client.providerId));
  await gateway.start();
  // Minutes are those of the process under test, which does not use the test clock.
  const leftMs = MINUTE_MS - (Date.now() % MINUTE_MS);
  if (leftMs < LEFT_MS) await sleep(leftMs + 50);
}, 180_000);

afterEach(async () => {
  await gateway.kill();
  await world.stop();
});

/** The rest of the minute refuses calls as if nothing had happened. */
async function isGoneOnWith(annHad: number): Promise<void> {
  expect(await app.calls(6 - annHad, 'ann')).toEqual(Array(6 - annHad).fill(200));
  const refused = await app.refused('ann');
  expect(refused).toEqual(rateLimited('user', refused.retryAfter));
  expect(await app.calls(4, 'ben')).toEqual([200, 200, 200, 429]);
}

describe('one instance without Redis that is started again within the minute', () => {
  it('stopped → the minute continues', async () => {
    expect(await app.calls(4, 'ann')).toEqual([200, 200, 200, 200]);
    await gateway.stop();
    await gateway.start();
    await isGoneOnWith(4);
  }, 180_000);

  it('killed directly after an answer, and during a call → the minute continues, every call counted', async () => {
    expect(await app.calls(3, 'ann')).toEqual([200, 200, 200]);
    world.upstream.script(() => undefined);
    const open = app.open('ann').head.catch(() => undefined);
    await eventually(() => world.upstream.requests.length === 4, { withinMs: 10_000 });
    await gateway.kill();
    await open;
    world.upstream.script(json(200, RESPONSE));
    await gateway.start();
    await isGoneOnWith(4);
  }, 180_000);
});
