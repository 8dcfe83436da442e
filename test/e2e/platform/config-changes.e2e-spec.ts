import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { Secret } from '../../../src/common/log/secret.js';
import { ConfigChanges } from '../../../src/platform/database/config-changes.js';
import { createDataSource } from '../../../src/platform/database/data-source.js';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { startTcpProxy } from '../../support/platform/tcp-proxy.js';

let url: string;
let db: DataSource;
let opened: ConfigChanges[];
let trouble: unknown[];

beforeEach(async () => {
  url = await freshDatabase();
  const options = { applicationName: 'config-changes-test', poolSize: 2, entities: [], migrations: [] };
  db = await createDataSource({ url: new Secret(url), ...options }).initialize();
  opened = [];
  trouble = [];
});

afterEach(async () => {
  await Promise.all(opened.map((changes) => changes.close()));
  await db.destroy();
  await dropDatabase(url);
});

/** A listening instance that has received the "everything" of its first connection, and its list of later keys. */
async function listen(topic: string, where = url): Promise<{ changes: ConfigChanges; keys: string[] }> {
  const changes = new ConfigChanges({ url: new Secret(where), onTrouble: (error) => trouble.push(error) });
  opened.push(changes);
  const keys: string[] = [];
  changes.subscribe(topic, (key) => keys.push(key));
  changes.open();
  await eventually(() => keys.length > 0, { withinMs: 10_000 });
  expect(keys.splice(0)).toEqual(['*']);
  return { changes, keys };
}

function killListeners(): Promise<unknown> {
  return db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and application_name = 'gateway-config'`,
  );
}

describe('configuration changes', () => {
  it('a change is published → every instance receives its key', async () => {
    const [one, other] = [await listen('apps'), await listen('apps')];
    await one.changes.publish(db, { topic: 'apps', key: 'a1' });
    await eventually(() => one.keys.length > 0 && other.keys.length > 0, { withinMs: 20_000 });
    expect([one.keys, other.keys]).toEqual([['a1'], ['a1']]);
  });

  it('transaction rolled back → no notification; committed → notification', async () => {
    const { changes, keys } = await listen('apps');
    const undone = db.transaction(async (tx) => {
      await changes.publish(tx, { topic: 'apps', key: 'undone' });
      throw new Error('roll back');
    });
    await expect(undone).rejects.toThrow('roll back');
    await db.transaction((tx) => changes.publish(tx, { topic: 'apps', key: 'done' }));
    await eventually(() => keys.length > 0, { withinMs: 10_000 });
    expect(keys).toEqual(['done']);
  });

  it('another topic, or a subscription that ended → no notification', async () => {
    const { changes, keys } = await listen('apps');
    const ended: string[] = [];
    changes.subscribe('apps', (key) => ended.push(key))();
    await changes.publish(db, { topic: 'providers', key: 'p1' });
    await changes.publish(db, { topic: 'apps', key: 'a1' });
    await eventually(() => keys.length > 0, { withinMs: 10_000 });
    expect([keys, ended]).toEqual([['a1'], []]);
  });

  it('one subscriber throws → the others are notified, the error is reported', async () => {
    const { changes, keys } = await listen('apps');
    changes.subscribe('providers', () => {
      throw new Error('broken subscriber');
    });
    const told: string[] = [];
    changes.subscribe('providers', (key) => told.push(key));
    await changes.publish(db, { topic: 'providers', key: 'p1' });
    await changes.publish(db, { topic: 'apps', key: 'a1' });
    await eventually(() => keys.length > 0, { withinMs: 10_000 });
    expect([told, trouble]).toEqual([['p1'], [new Error('broken subscriber')]]);
  });

  it('an unreadable text, from a newer version → everything counts as changed', async () => {
    const { keys } = await listen('apps');
    await db.query("select pg_notify('gateway_config', 'v2 something')");
    await eventually(() => keys.length > 0, { withinMs: 10_000 });
    expect(keys).toEqual(['*']);
  });

  it('its connection is terminated → reconnects, and reports everything as changed', async () => {
    const { changes, keys } = await listen('apps');
    await killListeners();
    await eventually(() => keys.length > 0 && changes.connected, { withinMs: 10_000 });
    await changes.publish(db, { topic: 'apps', key: 'later' });
    await eventually(() => keys.length > 1, { withinMs: 10_000 });
    expect(keys).toEqual(['*', 'later']);
    expect(trouble).toHaveLength(1);
  });

  it('the network drops everything → detected; back when the network recovers', async () => {
    const { hostname, port } = new URL(url);
    const proxy = await startTcpProxy({ host: hostname, port: Number(port || 5432) });
    const through = new URL(url);
    through.host = `127.0.0.1:${proxy.port}`;
    const { changes, keys } = await listen('apps', through.href);
    proxy.freeze();
    await eventually(() => !changes.connected, { withinMs: 20_000 });
    expect(keys).toEqual([]);
    proxy.thaw();
    await eventually(() => changes.connected && keys.includes('*'), { withinMs: 20_000 });
    await changes.close();
    await proxy.close();
  });

  it('Postgres is not up yet → opening neither fails nor blocks, closing stops the attempts', async () => {
    const nowhere = new Secret('postgres://nobody@127.0.0.1:1/none');
    const attemptsOf = (told: unknown[]) => new ConfigChanges({ url: nowhere, onTrouble: (error) => told.push(error) });
    const changes = attemptsOf(trouble);
    changes.open();
    await eventually(() => trouble.length >= 2, { withinMs: 10_000 });
    expect(changes.connected).toBe(false);
    await changes.close();
    const attempts = trouble.length;
    // One that starts now pauses as long, and keeps trying.
    const later: unknown[] = [];
    const goesOn = attemptsOf(later);
    opened.push(goesOn);
    goesOn.open();
    await eventually(() => later.length > attempts + 1, { withinMs: 20_000 });
    expect(trouble).toHaveLength(attempts);
  });
});
