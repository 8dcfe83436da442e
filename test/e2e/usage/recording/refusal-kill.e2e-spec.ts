import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import pg from 'pg';
import { created } from '../../../support/accounts/management-call.js';
import { eventually } from '../../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../../support/platform/gateway-process.js';
import { MONTHS_OUT_OF_STEP } from '../../../support/usage/recording/usage-sums.js';
import { newManagementKey, testEnvironment } from '../../../support/world.js';

const KILLS = 2;
/** For each run of the service: stored before its kill, and perhaps lost with it. */
const SETTLED = 20;
const LATE = 30;
const TEST_MS = 120_000;

const managementKey = newManagementKey();
let directory: string;
let databaseUrl: string;
let gateway: GatewayProcess;

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'refusal-kill-'));
  databaseUrl = await freshDatabase();
  const environment = testEnvironment(databaseUrl, join(directory, 'data'), managementKey);
  gateway = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, { ...environment, LOG_LEVEL: 'warn' });
  await gateway.start();
});

afterEach(async () => {
  await gateway.kill();
  await dropDatabase(databaseUrl);
  rmSync(directory, { recursive: true, force: true });
});

async function query<T extends object>(sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query(sql);
  await client.end();
  return rows;
}

async function counted(table: 'usage_events' | 'usage_days' | 'usage_user_days'): Promise<number> {
  const [row] = await query<{ requests: number }>(
    `SELECT coalesce(sum(requests), 0)::integer AS requests FROM ${table}`,
  );
  return row?.requests ?? 0;
}

it(
  `refusals of a service that is killed ${KILLS} times → at most those of its last second are lost, none is counted twice, and sums match`,
  async () => {
    const config = {
      authentication: { type: 'api_key', end_user: { source: 'header' } },
      routing: { providers: { mode: 'all' }, model_rewrites: {} },
    };
    const { app, api_key: key } = await created({ baseUrl: gateway.baseUrl, managementKey }, '/v1/admin/apps', {
      ...{ name: 'Refused', config },
    });
    const refuse = async (times: number) => {
      for (let time = 0; time < times; time++) {
        const answer = await fetch(`${gateway.baseUrl}/v1/apps/${app.id}/proxy/openai/v1/embeddings-of-nothing`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json', 'x-end-user-id': 'ada' },
          body: '{"model":"gpt-4.1"}',
        });
        await answer.arrayBuffer();
        expect(answer.status).toBeGreaterThanOrEqual(400);
      }
    };
    let least = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const before = await counted('usage_events');
      await refuse(SETTLED);
      await eventually(async () => (await counted('usage_events')) === before + SETTLED, { withinMs: 20_000 });
      least += SETTLED;
      await refuse(LATE);
      await gateway.kill();
      await gateway.start();
    }
    const before = await counted('usage_events');
    expect(before).toBeGreaterThanOrEqual(least);
    expect(before).toBeLessThanOrEqual(KILLS * (SETTLED + LATE));
    await refuse(SETTLED);
    await gateway.stop();
    const all = await counted('usage_events');
    expect(all).toBe(before + SETTLED);
    expect([await counted('usage_days'), await counted('usage_user_days')]).toEqual([all, all]);
    expect(await query(MONTHS_OUT_OF_STEP)).toEqual([]);
  },
  TEST_MS,
);
