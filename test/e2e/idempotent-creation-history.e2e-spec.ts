import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type CreationCall, unexplainedKeys } from '../support/creation-history.js';
import { CREATION_KINDS, randomToken } from '../support/creations.js';
import { dropDatabase, freshDatabase } from '../support/database.js';
import { freePort, GatewayProcess } from '../support/gateway-process.js';
import { describeWithRedis, reachRedis } from '../support/redis.js';
import { seeded } from '../support/seeded.js';
import { newManagementKey, testEnvironment } from '../support/world.js';

const SEED = Number(process.env.CREATION_SEED ?? Math.floor(Math.random() * 2 ** 31));
const RUN_MS = Number(process.env.CREATION_RUN_MS ?? 15_000);
const CLIENTS = 8;
/** So many calls name a key before it is left behind, two at once and out of step. */
const CALLS_OF_A_KEY = 12;
const PATIENCE_MS = 120_000;
const APP_CONFIG = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };

interface Request {
  readonly key: string;
  readonly proof: number;
  readonly body: number;
}

describe('what the proof can tell', () => {
  const call = (members: Partial<CreationCall>): CreationCall => ({
    ...{ key: 'k', proof: 0, body: 0, sentAtMs: 0, answeredAtMs: 1, status: 201, text: 'a', ...members },
  });

  it.each([
    ['two answers', [call({}), call({ text: 'b' })]],
    ['a changed body that was accepted', [call({}), call({ body: 1 })]],
    ['another proof that got the answer', [call({}), call({ proof: 1 })]],
    [
      'a refusal for a creation that nobody can have asked for',
      [call({ status: 409 }), call({ status: 409, body: 1 })],
    ],
    [
      'a refusal before the creation was sent',
      [call({ status: 403, proof: 1 }), call({ sentAtMs: 2, answeredAtMs: 3 })],
    ],
  ])('%s: found', (_what, calls) => {
    expect(unexplainedKeys(calls)).toHaveLength(1);
  });

  it('no answer, and a refusal that says it was carried out: explained', () => {
    expect(unexplainedKeys([call({ status: undefined }), call({ status: 409, body: 1 }), call({ text: 'a' })])).toEqual(
      [],
    );
  });
});

describeWithRedis('creations on two processes that are killed (threats 9.3)', () => {
  it(
    `random requests with the same and with other keys (CREATION_SEED=${SEED}): as if one came after the other`,
    async () => {
      const stage = await startStage();
      try {
        const calls = await stage.run();
        const created = calls.filter(({ status }) => status === 201);
        const keys = new Set(calls.map(({ key }) => key));
        process.stderr.write(
          `${calls.length} calls, ${keys.size} keys, ${stage.kills()} kills, ${created.length} answered\n`,
        );
        expect(created.length).toBeGreaterThan(100);
        expect(stage.kills()).toBeGreaterThan(1);
        expect(calls.filter(({ status }) => status === 500)).toEqual([]);
        expect(unexplainedKeys(calls)).toEqual([]);
        expect(await stage.outOfStep()).toEqual([]);
        const retries = await stage.retry(keys);
        expect(retries.filter(({ status }) => status === undefined || status >= 500)).toEqual([]);
        expect(unexplainedKeys([...calls, ...retries])).toEqual([]);
        expect(await stage.outOfStep()).toEqual([]);
      } finally {
        await stage.stop();
      }
    },
    PATIENCE_MS,
  );
});

async function startStage() {
  const random = seeded(SEED);
  const redis = await reachRedis();
  const databaseUrl = await freshDatabase();
  const directory = mkdtempSync(join(tmpdir(), 'creation-history-'));
  const managementKey = newManagementKey();
  const processes = await Promise.all(
    ['one', 'two'].map(async (name) => {
      const environment = testEnvironment(databaseUrl, join(directory, name), managementKey);
      const settings = { ...environment, REDIS_URL: redis.url, LOG_LEVEL: 'error' };
      return new GatewayProcess(`http://127.0.0.1:${await freePort()}`, settings);
    }),
  );
  for (const gateway of processes) await gateway.start();
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const [one] = processes;
  const owner = await post(
    `${one?.baseUrl}/v1/admin/apps`,
    { name: 'Owner of keys', config: APP_CONFIG },
    managementKey,
  );
  const appId: string = JSON.parse(owner.text).app.id;
  const tokens = new Map<string, string>();
  const [calls, started]: [CreationCall[], number] = [[], performance.now()];
  let kills = 0;

  const tokenOf = (name: string) => tokens.get(name) ?? tokens.set(name, randomToken()).get(name) ?? '';
  const send = async (request: Request, gateway: GatewayProcess | undefined): Promise<CreationCall> => {
    const { path, body } = creationOf(request, appId);
    const headers = {
      'idempotency-key': tokenOf(request.key),
      'x-idempotency-proof': tokenOf(`${request.key} ${request.proof}`),
    };
    const sentAtMs = performance.now();
    const answer = await post(`${gateway?.baseUrl}${path}`, body, managementKey, headers);
    return { ...request, ...answer, sentAtMs, answeredAtMs: performance.now() };
  };
  const keepAsking = async () => {
    while (performance.now() - started < RUN_MS) {
      const step = Math.max(0, Math.floor(calls.length / CALLS_OF_A_KEY) - Math.floor(random() * 2));
      const kind = CREATION_KINDS[step % CREATION_KINDS.length];
      const [proof, body] = [random() < 0.1 ? 1 : 0, random() < 0.2 ? 1 : 0];
      const call = await send({ key: `${kind} ${step}`, proof, body }, processes[Math.floor(random() * 2)]);
      calls.push(call);
      if (call.status === undefined) await sleep(20);
    }
  };
  const keepKilling = async () => {
    while (performance.now() - started < RUN_MS) {
      await sleep(200 + random() * 600);
      const victim = processes[Math.floor(random() * 2)];
      await victim?.kill();
      kills++;
      await victim?.start();
    }
  };
  return {
    kills: () => kills,
    async run() {
      await Promise.all([keepKilling(), ...Array.from({ length: CLIENTS }, keepAsking)]);
      return calls;
    },
    retry: (keys: ReadonlySet<string>) =>
      Promise.all([...keys].map((key, index) => send({ key, proof: 0, body: 0 }, processes[index % 2]))),
    outOfStep: async () => (await client.query(OUT_OF_STEP, [appId])).rows,
    async stop() {
      await Promise.all(processes.map((gateway) => gateway.kill()));
      await client.end();
      await dropDatabase(databaseUrl);
      await redis.stop();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Two creations with one key want the same slug, and differ in their name. */
function creationOf({ key, body }: Request, appId: string): { path: string; body: object } {
  const [kind, step] = key.split(' ');
  const name = `${key} ${body}`;
  if (kind === 'app') return { path: '/v1/admin/apps', body: { name, config: APP_CONFIG } };
  if (kind === 'app_key') return { path: `/v1/admin/apps/${appId}/keys`, body: { name } };
  if (kind === 'provider') {
    return { path: '/v1/admin/providers', body: { type: 'openai', name, slug: `s-${step}`, secret: 'sk-1234567890' } };
  }
  return { path: '/v1/admin/provider-gateways', body: { type: 'vercel', name, token: 'token-1234567890' } };
}

async function post(
  url: string,
  body: object,
  key: string,
  headers: Record<string, string> = {},
): Promise<Pick<CreationCall, 'status' | 'text'>> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: undefined, text: '' };
  }
}

/** Receipts whose resource is missing, resources without a receipt, and such that share one; $1 was made without one. */
const OUT_OF_STEP = `
  WITH made AS (
    SELECT id, 'app' AS kind FROM apps WHERE id <> $1
    UNION ALL SELECT id, 'app_key' FROM app_keys WHERE app_id = $1 AND name <> 'Default key'
    UNION ALL SELECT id::text, 'provider' FROM providers
    UNION ALL SELECT id::text, 'provider_gateway' FROM provider_gateways
  ), kept AS (
    SELECT kind, CASE kind WHEN 'app' THEN app_id WHEN 'app_key' THEN key_id WHEN 'provider' THEN provider_id
                 ELSE provider_gateway_id END AS id FROM creation_receipts
  )
  SELECT made.id AS "madeId", kept.id AS "keptId", coalesce(made.kind, kept.kind) AS kind
    FROM made FULL JOIN kept ON made.kind = kept.kind AND made.id = kept.id
   GROUP BY 1, 2, 3 HAVING count(*) > 1 OR made.id IS NULL OR kept.id IS NULL`;
