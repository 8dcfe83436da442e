import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { engineOptions } from '../../../src/bootstrap/engine-options.rules.js';
import { created } from '../../support/accounts/management-call.js';
import { eventually } from '../../support/eventually.js';
import { Exposition } from '../../support/health/metrics/exposition.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { programEnvironment } from '../../support/platform/gateway-process.js';
import { describeWithRedis, reachRedis, type TestRedis } from '../../support/platform/redis.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { MarkedLoad } from '../../support/usage/recording/marked-load.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));
const STARTED = { withinMs: 60_000 };
const PATIENCE_MS = 120_000;
const USER_HEADER = 'x-test-user';
const CLIENTS = 16;
const KILLS = 2;

type Line = Readonly<Record<string, unknown>>;

/** The built service as separate processes. */
class Service {
  readonly lines: Line[] = [];
  errors = '';
  readonly ended: Promise<number | null>;
  private readonly child: ChildProcess;

  constructor(env: Readonly<Record<string, string>>) {
    this.child = spawn(process.execPath, [...engineOptions(process.versions.node), MAIN], {
      env: programEnvironment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { stdout, stderr } = this.child;
    if (stdout) createInterface(stdout).on('line', (line) => void this.lines.push(JSON.parse(line)));
    stderr?.on('data', (bytes) => {
      this.errors += bytes;
    });
    this.ended = once(this.child, 'close').then(([code]) => code);
  }

  named(message: string): Line[] {
    return this.lines.filter((line) => line.message === message);
  }

  get url(): string {
    return String(this.named('gateway_started')[0]?.url);
  }

  /** Resolves when this many workers have started to serve since the start. */
  async serving(workers: number): Promise<void> {
    await eventually(() => {
      if (this.child.exitCode !== null) throw new Error(`did not start:\n${this.errors}`);
      return this.named('gateway_started').length >= workers;
    }, STARTED);
  }

  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** @returns its exit code, after everything has ended. */
  end(signal: NodeJS.Signals): Promise<number | null> {
    this.signal(signal);
    return this.ended;
  }
}

let directory: string;
let databaseUrl: string;
let services: Service[];
const managementKey = newManagementKey();

async function setUp(): Promise<void> {
  directory = mkdtempSync(join(tmpdir(), 'gateway-workers-'));
  databaseUrl = await freshDatabase();
  services = [];
}

async function tearDown(): Promise<void> {
  await Promise.all(services.map((service) => service.end('SIGKILL')));
  await dropDatabase(databaseUrl);
  rmSync(directory, { recursive: true, force: true });
}

function start(env: Readonly<Record<string, string>>): Service {
  const settings = testEnvironment(databaseUrl, join(directory, 'data'), managementKey);
  const service = new Service({ ...settings, WORKERS: '2', ...env });
  services.push(service);
  return service;
}

async function query<T extends pg.QueryResultRow>(sql: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client.query<T>(sql);
  await client.end();
  return rows;
}

/** Process ids of the running workers. */
async function workerPids(): Promise<number[]> {
  const rows = await query<{ pid: number }>(
    "SELECT pid FROM gateway_instances WHERE seen_at > now() - interval '3 seconds' ORDER BY started_at",
  );
  return rows.map(({ pid }) => pid).filter(isAlive);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** The report of a process about all that share its port; undefined if it does not answer in time. */
async function scraped(url: string, withinMs = 10_000): Promise<Exposition | undefined> {
  const options = { headers: { connection: 'close' }, signal: AbortSignal.timeout(withinMs) };
  const text = await fetch(`${url}/metrics`, options).then(
    (answer) => answer.text(),
    () => undefined,
  );
  return text === undefined ? undefined : new Exposition(text);
}

/** Finished calls of people. */
const endedCalls = (exposition: Exposition | undefined) =>
  exposition?.sum('gateway_requests_total', { route: 'admin', status_class: '2xx' });

/** Whether a promise has not settled yet. */
async function isPending(work: Promise<unknown>): Promise<boolean> {
  const settled = work.then(
    () => false,
    () => false,
  );
  return Promise.race([settled, turn(true)]);
}

async function readiness(url: string): Promise<{ ready: boolean; reason: string | null; instances: number }> {
  const answer = await fetch(`${url}/v1/readyz`, { headers: { connection: 'close' } });
  return JSON.parse(await answer.text());
}

describe('WORKERS that cannot start', () => {
  beforeAll(setUp);
  afterAll(tearDown);

  it('no REDIS_URL → names both variables, exit code 1', async () => {
    const service = start({ REDIS_URL: '' });
    expect(await service.ended).toBe(1);
    expect(service.errors).toContain('REDIS_URL must be set where WORKERS is above 1');
  });

  it('a wrong setting → reported once, exit code 1', async () => {
    const service = start({ REDIS_URL: 'redis://127.0.0.1:1', JWT_SECRET: '' });
    expect(await service.ended).toBe(1);
    expect(service.errors.match(/JWT_SECRET is required with DATABASE_URL/g)).toHaveLength(1);
  });

  it(
    'the port is taken → exit code 1, no worker stays',
    async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const address = other.address();
      const port = address !== null && typeof address === 'object' ? String(address.port) : '';
      const service = start({ REDIS_URL: 'redis://127.0.0.1:1', PORT: port });
      expect(await service.ended).toBe(1);
      expect(service.errors).toContain('EADDRINUSE');
      expect(service.lines).toEqual([]);
      other.close();
    },
    PATIENCE_MS,
  );
});

describeWithRedis('WORKERS', () => {
  let redis: Pick<TestRedis, 'url' | 'stop'>;
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    redis = await reachRedis();
    upstream = await startUpstream();
  });

  afterAll(async () => {
    await upstream.close();
    await redis.stop();
  });

  const manage = (baseUrl: string, path: string, body: object) => created({ baseUrl, managementKey }, path, body);

  async function startLoad(url: string): Promise<MarkedLoad> {
    const provider = { type: 'openai', name: 'P', slug: 'p', secret: 'sk-workers-test', baseUrl: `${upstream.url}/` };
    await manage(url, '/v1/admin/providers', provider);
    const { app, api_key: key } = await manage(url, '/v1/admin/apps', {
      name: 'Workers',
      config: {
        authentication: { type: 'api_key', end_user: { source: 'header', header: USER_HEADER } },
        routing: { providers: { mode: 'all' }, model_rewrites: {} },
      },
    });
    const target = { stream: false, url: `${url}/v1/apps/${app.id}/proxy/p/v1/chat/completions` };
    const load = new MarkedLoad([target], { authorization: `Bearer ${key.key}` }, USER_HEADER);
    load.start(CLIENTS);
    return load;
  }

  describe('each worker started again', () => {
    beforeEach(setUp);
    afterEach(tearDown);

    it(
      'two serve on one port, the banner appears once; SIGTERM → both finish, exit code 0',
      async () => {
        const service = start({ REDIS_URL: redis.url });
        await service.serving(2);
        expect(new Set(service.named('gateway_started').map(({ url }) => url)).size).toBe(1);
        await eventually(async () => (await readiness(service.url)).instances === 2, { withinMs: 10_000 });
        expect(await readiness(service.url)).toMatchObject({ ready: true });
        expect(await service.end('SIGTERM')).toBe(0);
        expect(service.errors.match(/The gateway is ready/g)).toHaveLength(1);
        expect(service.named('gateway_stopped')).toHaveLength(2);
        expect(await query('SELECT 1 FROM gateway_instances')).toEqual([]);
        expect(readdirSync(join(directory, 'data', 'journal'))).toEqual([]);
      },
      PATIENCE_MS,
    );

    it(
      `a worker is killed, ${KILLS} times under load → others continue, a new one starts, every call has one event`,
      async () => {
        const service = start({ REDIS_URL: redis.url, LOG_LEVEL: 'info' });
        await service.serving(2);
        const load = await startLoad(service.url);
        for (let kill = 1; kill <= KILLS; kill++) {
          const underLoad = load.completed.size + CLIENTS;
          await eventually(() => load.completed.size > underLoad, STARTED);
          const [victim] = await workerPids();
          if (victim === undefined) throw new Error('no worker');
          process.kill(victim, 'SIGKILL');
          const before = load.completed.size;
          await eventually(() => load.completed.size > before + CLIENTS, STARTED);
          await service.serving(2 + kill);
        }
        await load.stop();
        expect(service.named('worker_exited')).toEqual(
          Array(KILLS).fill(expect.objectContaining({ level: 'error', signal: 'SIGKILL', exitCode: null })),
        );
        expect(await service.end('SIGTERM')).toBe(0);
        const events = await query<{ user_id: string }>('SELECT user_id FROM usage_events');
        const recorded = events.map(({ user_id }) => user_id);
        expect(new Set(recorded).size).toBe(recorded.length);
        const seen = upstream.requests.map(({ body }) => /request-marker:([\w-]+)/.exec(String(body))?.[1]);
        expect(seen.length).toBeGreaterThan(25 * KILLS);
        expect(seen.filter((marker) => marker !== undefined && !recorded.includes(marker))).toEqual([]);
        expect([...load.completed.keys()].filter((marker) => !recorded.includes(marker))).toEqual([]);
      },
      PATIENCE_MS,
    );
  });

  describe('started once, and again after the first process ends', () => {
    let service: Service;

    const startSlowToStop = () => start({ REDIS_URL: redis.url, STOP_DELAY_SECONDS: '3600' });
    /** The killed one has been replaced. */
    const twoLive = () => eventually(async () => (await workerPids()).length === 2, STARTED);

    beforeAll(async () => {
      await setUp();
      service = startSlowToStop();
      await service.serving(2);
    }, PATIENCE_MS);
    afterAll(tearDown);

    it(
      'any worker is scraped → all are included; one is frozen → its last values; one is killed → no counter decreases',
      async () => {
        const call = () =>
          fetch(`${service.url}/v1/admin/apps`, {
            headers: { authorization: `Bearer ${managementKey}`, connection: 'close' },
          });
        const scrapes = () => Promise.all(Array.from({ length: 6 }, () => scraped(service.url, 3_000)));
        for (let calls = 0; calls < 11; calls++) await (await call()).text();
        await eventually(async () => (await scrapes()).every((one) => endedCalls(one) === 11), STARTED);
        const [victim = 0] = await workerPids();
        process.kill(victim, 'SIGSTOP');
        // Connections go to each in turn: those of the frozen one are not answered.
        const stopped = await scrapes().finally(() => process.kill(victim, 'SIGKILL'));
        expect(new Set(stopped.map(endedCalls))).toEqual(new Set([11, undefined]));
        await service.serving(3);
        await (await call()).text();
        await eventually(async () => (await scrapes()).every((one) => endedCalls(one) === 12), STARTED);
      },
      PATIENCE_MS,
    );

    it(
      'a worker is killed before it takes an assigned connection → the client sees it closed',
      async () => {
        await twoLive();
        const [victim = 0] = await workerPids();
        process.kill(victim, 'SIGSTOP');
        // Connections go to each worker in turn, the next one only after it took the last.
        const calls = Array.from({ length: 4 }, () =>
          fetch(`${service.url}/v1/healthz`, { headers: { connection: 'close' } }),
        );
        await eventually(async () => (await Promise.all(calls.map(isPending))).filter(Boolean).length === 1, {
          withinMs: 10_000,
        });
        process.kill(victim, 'SIGKILL');
        const ends = await Promise.allSettled(calls);
        expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
      },
      PATIENCE_MS,
    );

    it(
      'the first process is killed → its workers end, and the next start serves',
      async () => {
        await twoLive();
        const pids = await workerPids();
        expect(pids).toHaveLength(2);
        await service.end('SIGKILL');
        await eventually(() => !pids.some(isAlive), { withinMs: 10_000 });
        service = startSlowToStop();
        await service.serving(2);
      },
      PATIENCE_MS,
    );

    it(
      'SIGTERM with STOP_DELAY_SECONDS → no worker is ready, each serves; SIGINT → both finish, exit code 0',
      async () => {
        service.signal('SIGTERM');
        // Connections go to each in turn.
        const reasons = () => Promise.all(Array.from({ length: 4 }, async () => (await readiness(service.url)).reason));
        await eventually(async () => (await reasons()).every((reason) => reason === 'stopping'), { withinMs: 10_000 });
        expect(await service.end('SIGINT')).toBe(0);
        expect(service.named('gateway_stopped')).toHaveLength(2);
        expect(service.named('worker_exited')).toEqual([]);
      },
      PATIENCE_MS,
    );
  });
});
