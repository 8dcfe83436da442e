import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startGateway } from '../../../src/bootstrap/start.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { startTransactionPooler } from '../../support/platform/transaction-pooler.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

describe('a pooler in transaction mode', () => {
  let databaseUrl: string;
  let pooledUrl: string;
  let directory: string;
  let pooler: Awaited<ReturnType<typeof startTransactionPooler>>;

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'gateway-pooler-'));
    databaseUrl = await freshDatabase();
    pooler = await startTransactionPooler(databaseUrl);
    const url = new URL(databaseUrl);
    url.host = `127.0.0.1:${pooler.port}`;
    pooledUrl = url.href;
  });
  afterEach(async () => {
    await pooler.close();
    await dropDatabase(databaseUrl);
    rmSync(directory, { recursive: true, force: true });
  });

  const start = () =>
    startGateway(testEnvironment(pooledUrl, directory, newManagementKey()), { log: () => undefined }).then((gateway) =>
      gateway.stop('test'),
    );

  it('a start → refused with what to do', async () => {
    await expect(start()).rejects.toThrow(
      'DATABASE_URL points to a pooler in transaction mode: use the address of Postgres itself, or switch the ' +
        'pooler to session mode.',
    );
  });

  it('a start while others use it → refused too', async () => {
    const others = Array.from({ length: 4 }, () => new pg.Client({ connectionString: pooledUrl }));
    await Promise.all(others.map((client) => client.connect()));
    let isOver = false;
    const load = others.map(async (client) => {
      while (!isOver) await client.query('select pg_sleep(0.002)');
      await client.end();
    });
    try {
      await expect(start()).rejects.toThrow('a pooler in transaction mode');
    } finally {
      isOver = true;
      await Promise.all(load);
    }
  });
});
