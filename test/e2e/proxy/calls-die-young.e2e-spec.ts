import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { created } from '../../support/accounts/management-call.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const CALLS = 6_000;
const CLIENTS = 16;
/** Code and caches that the first calls fill take 1 to 3 KB of this; a call that is kept as a whole has 11. */
const MOST_KEPT_BYTES = 6 * 1024;
const TRACE = new URL('../../support/platform/trace-collections.ts', import.meta.url).href;
/** A line of `--trace-gc`: its kind, and the heap after it in MiB. */
const COLLECTION = /: (Scavenge|Mark-Compact) [^\n]*? -> ([\d.]+) \(/g;

let directory: string;
let databaseUrl: string;
let gateway: GatewayProcess;
let upstream: ScriptedUpstream;
const managementKey = newManagementKey();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'calls-die-young-'));
  databaseUrl = await freshDatabase();
  const environment = testEnvironment(databaseUrl, join(directory, 'data'), managementKey);
  gateway = new GatewayProcess(`http://127.0.0.1:${await freePort()}`, {
    ...{ ...environment, LOG_LEVEL: 'warn', NODE_OPTIONS: `--import=${TRACE}` },
  });
  upstream = await startUpstream();
  await gateway.start();
});

afterAll(async () => {
  await gateway.kill();
  await upstream.close();
  await dropDatabase(databaseUrl);
  rmSync(directory, { recursive: true, force: true });
});

it('first calls of a process → almost none of their memory outlives the young generation (ADR 0050)', async () => {
  const service = { baseUrl: gateway.baseUrl, managementKey };
  const provider = { type: 'openai', name: 'json', slug: 'json', secret: 'sk-of-young-calls' };
  await created(service, '/v1/admin/providers', { ...provider, baseUrl: `${upstream.url}/` });
  const { app, api_key: key } = await created(service, '/v1/admin/apps', {
    name: 'Young',
    config: { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } },
  });
  const start = gateway.written.length;
  let left = CALLS;
  const client = async () => {
    while (left-- > 0) {
      const answer = await fetch(`${gateway.baseUrl}/v1/apps/${app.id}/proxy/json/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4.1', max_tokens: 16, messages: [{ role: 'user', content: 'hello' }] }),
      });
      expect([answer.status, (await answer.text()).length > 0]).toEqual([200, true]);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  const collections = [...gateway.written.slice(start).matchAll(COLLECTION)];
  expect(collections.length).toBeGreaterThan(5);
  expect(keptBytes(collections) / CALLS).toBeLessThan(MOST_KEPT_BYTES);
});

/** Growth of the heap over young collections, between one full collection and the next. */
function keptBytes(collections: readonly RegExpMatchArray[]): number {
  let keptMib = 0;
  let beforeMib: number | undefined;
  for (const [, kind, after] of collections) {
    if (kind === 'Scavenge' && beforeMib !== undefined) keptMib += Number(after) - beforeMib;
    beforeMib = Number(after);
  }
  return keptMib * 1024 * 1024;
}
