import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { type CreationCall, unexplainedKeys } from '../../proof/creations/creation-history.js';
import { CREATION_KINDS, randomToken } from '../../support/idempotency/creations.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { describeWithRedis, reachRedis } from '../../support/platform/redis.js';
import { seeded } from '../../support/seeded.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const SEED = Number(process.env.CREATION_SEED ?? Math.floor(Math.random() * 2 ** 31));
const RUN_MS = Number(process.env.CREATION_RUN_MS ?? 3_000);
/** A start takes its time on a busy machine: the run goes on until so many were killed, within a bound. */
const LEAST_KILLS = 3;
const LONGEST_RUN_MS = RUN_MS + 20_000;
const CLIENTS = 8;
/** The number of calls with a key before the next key, two at once and out of step. */
const CALLS_OF_A_KEY = 12;
const PATIENCE_MS = Math.max(120_000, 12 * RUN_MS);
const APP_CONFIG = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };

interface Request {
  readonly key: string;
  readonly proof: number;
  readonly body: number;
}

describe('what the proof detects', () => {
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

  it('no answer, or a refusal of a request that was carried out: explained', () => {
    expect(unexplainedKeys([call({ status: undefined }), call({ status: 409, body: 1 }), call({ text: 'a' })])).toEqual(
      [],
    );
  });
});

describeWithRedis('creations on two processes that are killed', () => {
  it(
    `random requests with the same and with other keys (CREATION_SEED=${SEED}): the same as in some sequential order`,
    async () => {
      const stage = await Stage.start();
      try {
        await stage.run();
        const { calls, kills } = stage;
        const created = calls.filter(({ status }) => status === 201);
        process.stderr.write(`${calls.length} calls, ${kills} kills, ${created.length} created or answered again\n`);
        expect(created.length).toBeGreaterThan(CALLS_OF_A_KEY);
        expect(calls.filter(({ status }) => status === 500)).toEqual([]);
        expect(unexplainedKeys(calls)).toEqual([]);
        expect(await stage.outOfStep()).toEqual([]);
        const retries = await stage.retry();
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

/** Two processes of the service on one database, clients, and kills. */
class Stage {
  readonly calls: CreationCall[] = [];
  kills = 0;
  private readonly random = seeded(SEED);
  private readonly tokens = new Map<string, string>();
  private startedAtMs = 0;

  private constructor(
    private readonly processes: readonly GatewayProcess[],
    private readonly database: pg.Client,
    private readonly managementKey: string,
    private readonly appId: string,
    private readonly clean: () => Promise<void>,
  ) {}

  static async start(): Promise<Stage> {
    const redis = await reachRedis();
    const databaseUrl = await freshDatabase();
    const directory = mkdtempSync(join(tmpdir(), 'creation-history-'));
    const managementKey = newManagementKey();
    const newProcess = async (name: string) => {
      const environment = testEnvironment(databaseUrl, join(directory, name), managementKey);
      const settings = { ...environment, REDIS_URL: redis.url, LOG_LEVEL: 'error' };
      return new GatewayProcess(`http://127.0.0.1:${await freePort()}`, settings);
    };
    const [one, two] = [await newProcess('one'), await newProcess('two')];
    for (const gateway of [one, two]) await gateway.start();
    const database = new pg.Client({ connectionString: databaseUrl });
    await database.connect();
    const owner = { name: 'Owner of keys', config: APP_CONFIG };
    const { text } = await post(`${one.baseUrl}/v1/admin/apps`, owner, managementKey);
    return new Stage([one, two], database, managementKey, JSON.parse(text).app.id, async () => {
      await dropDatabase(databaseUrl);
      await redis.stop();
      rmSync(directory, { recursive: true, force: true });
    });
  }

  /** Returns when the time is over and enough was killed, with all processes up. */
  async run(): Promise<void> {
    this.startedAtMs = performance.now();
    await Promise.all([this.keepKilling(), ...Array.from({ length: CLIENTS }, () => this.keepAsking())]);
  }

  /** Every creation once more, with its most frequent request. */
  retry(): Promise<CreationCall[]> {
    const keys = [...new Set(this.calls.map(({ key }) => key))];
    return Promise.all(keys.map((key, index) => this.send({ key, proof: 0, body: 0 }, this.processes[index % 2])));
  }

  /** Inconsistent rows. */
  async outOfStep(): Promise<unknown[]> {
    return (await this.database.query(OUT_OF_STEP, [this.appId])).rows;
  }

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((gateway) => gateway.kill()));
    await this.database.end();
    await this.clean();
  }

  private get isOver(): boolean {
    const elapsedMs = performance.now() - this.startedAtMs;
    return elapsedMs > LONGEST_RUN_MS || (elapsedMs > RUN_MS && this.kills >= LEAST_KILLS);
  }

  private async keepAsking(): Promise<void> {
    while (!this.isOver) {
      const step = Math.max(0, Math.floor(this.calls.length / CALLS_OF_A_KEY) - Math.floor(this.random() * 2));
      const key = `${CREATION_KINDS[step % CREATION_KINDS.length]} ${step}`;
      const [proof, body] = [this.random() < 0.1 ? 1 : 0, this.random() < 0.2 ? 1 : 0];
      const call = await this.send({ key, proof, body }, this.processes[Math.floor(this.random() * 2)]);
      this.calls.push(call);
      if (call.status === undefined) await sleep(100);
    }
  }

  /** One after the other, so that one of them answers meanwhile. */
  private async keepKilling(): Promise<void> {
    while (!this.isOver) {
      await sleep(200 + this.random() * 600);
      const victim = this.processes[Math.floor(this.random() * 2)];
      await victim?.kill();
      this.kills++;
      await victim?.start();
    }
  }

  private async send(request: Request, gateway: GatewayProcess | undefined): Promise<CreationCall> {
    const { path, body } = creationOf(request, this.appId);
    const headers = {
      'idempotency-key': this.token(request.key),
      'x-idempotency-proof': this.token(`${request.key} ${request.proof}`),
    };
    const sentAtMs = performance.now();
    const answer = await post(`${gateway?.baseUrl}${path}`, body, this.managementKey, headers);
    return { ...request, ...answer, sentAtMs, answeredAtMs: performance.now() };
  }

  private token(name: string): string {
    const token = this.tokens.get(name) ?? randomToken();
    this.tokens.set(name, token);
    return token;
  }
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

/**
 * Records whose resource is missing, resources without a record, and those that share one; $1 was created without one.
 */
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
