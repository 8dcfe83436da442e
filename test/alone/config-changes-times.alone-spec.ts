import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Secret } from '../../src/common/log/secret.js';
import { ConfigChanges } from '../../src/platform/database/config-changes.js';
import { createDataSource } from '../../src/platform/database/data-source.js';
import { eventually } from '../support/eventually.js';
import { dropDatabase, freshDatabase } from '../support/platform/database.js';
import { startFurtherInstance } from '../support/platform/further-instance.js';
import { describeWithRedis, reachRedis } from '../support/platform/redis.js';
import { startTcpProxy, type TcpProxy } from '../support/platform/tcp-proxy.js';
import { plainCompletion } from '../support/proxy/upstream.js';
import { json } from '../support/proxy/upstream-scripts.js';
import { startWorld } from '../support/world.js';

/** Time until other instances are notified of a change. */
const KNOWN_MS = 1_000;
/** Time until a silent connection counts as dead, and until it is restored. */
const NOTICED_MS = 5_000;

let url: string;
let db: DataSource;
let proxy: TcpProxy;
let opened: ConfigChanges[];

beforeAll(async () => {
  url = await freshDatabase();
  const options = { applicationName: 'config-changes-times', poolSize: 2, entities: [], migrations: [] };
  db = await createDataSource({ url: new Secret(url), ...options }).initialize();
  const { hostname, port } = new URL(url);
  proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
});

beforeEach(() => {
  opened = [];
});

afterEach(() => Promise.all(opened.map((changes) => changes.close())));

afterAll(async () => {
  await proxy.close();
  await db.destroy();
  await dropDatabase(url);
});

/** A listening instance, and the time of its last notification. */
async function listening(where = url): Promise<{ changes: ConfigChanges; toldAtMs: () => number }> {
  const changes = new ConfigChanges({ url: new Secret(where), onTrouble: () => undefined });
  opened.push(changes);
  let toldAtMs = 0;
  changes.subscribe('apps', () => {
    toldAtMs = performance.now();
  });
  changes.open();
  await eventually(() => toldAtMs > 0, { withinMs: 10_000 });
  return { changes, toldAtMs: () => toldAtMs };
}

async function tookMs(condition: () => boolean): Promise<number> {
  const startedMs = performance.now();
  await eventually(condition, { withinMs: 20_000 });
  return performance.now() - startedMs;
}

describe('configuration changes', () => {
  it('a change is published → every instance is notified within a second', async () => {
    const [one, other] = [await listening(), await listening()];
    const publishedMs = performance.now();
    await one.changes.publish(db, { topic: 'apps', key: 'a1' });
    await eventually(() => [one, other].every(({ toldAtMs }) => toldAtMs() > publishedMs), { withinMs: 10_000 });
    for (const { toldAtMs } of [one, other]) expect(toldAtMs() - publishedMs).toBeLessThan(KNOWN_MS);
  });

  it('the network drops everything → detected within five seconds; it recovers → back within five', async () => {
    const through = new URL(url);
    through.host = `127.0.0.1:${proxy.port}`;
    const { changes } = await listening(through.href);
    proxy.freeze();
    const lostMs = await tookMs(() => !changes.connected);
    proxy.thaw();
    const backMs = await tookMs(() => changes.connected);
    expect(lostMs).toBeLessThan(NOTICED_MS);
    expect(backMs).toBeLessThan(NOTICED_MS);
  });
});

describeWithRedis('another instance', () => {
  it('a user is blocked and unblocked, a key revoked → calls reflect it within a second', async () => {
    const redis = await reachRedis();
    const world = await startWorld({ env: { REDIS_URL: redis.url } });
    const other = await startFurtherInstance(world);
    const { slug } = await world.provider({ type: 'openai' });
    const config = { authentication: { type: 'api_key', end_user: { source: 'header' } } };
    const { id, key } = await world.app({ ...config, routing: { providers: { mode: 'all' }, model_rewrites: {} } });
    world.upstream.script(json(200, plainCompletion));
    const status = async () => {
      const answer = await fetch(`${other.baseUrl}/v1/apps/${id}/proxy/${slug}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-end-user-id': 'ann' },
        body: JSON.stringify({ model: 'gpt-4.1', messages: [] }),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    const followsMs = async (change: string, expected: number) => {
      const { status: done } = await world.api.post(`/v1/admin/apps/${id}/${change}`);
      expect(done).toBe(200);
      const startedMs = performance.now();
      await eventually(async () => (await status()) === expected, { withinMs: 20_000 });
      return performance.now() - startedMs;
    };
    expect(await status()).toBe(200);
    const [own] = (await world.api.get(`/v1/admin/apps/${id}/keys`)).body.keys;
    expect(await followsMs('users/ann/block', 403)).toBeLessThan(KNOWN_MS);
    expect(await followsMs('users/ann/unblock', 200)).toBeLessThan(KNOWN_MS);
    expect(await followsMs(`keys/${own.id}/revoke`, 401)).toBeLessThan(KNOWN_MS);
    await other.stop();
    await world.stop();
    await redis.stop();
  });
});
