/**
 * The processes of a run. A *party* is a measured one, with the pauses of its garbage collector and its *callers*: whom
 * to call there, and as whom. Parties idle while another one is measured.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/src/platform/embedded-postgres/embedded-postgres.js';
import { jsonCall } from './bodies.mjs';
import { keepBehind, leaveMeasuredCore, onMeasuredCore } from './cores.mjs';
import { startWorker } from './jobs.mjs';
import { firstMessage, freePort, moduleOf, startModule, startProgram, stopChild, waitUntilUp } from './processes.mjs';
import { TARGETS } from './targets.mjs';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const START_PATIENCE_MS = 60_000;
const FIRST_ANSWER_PATIENCE_MS = 5_000;
/** A line of `--trace-gc`: its kind, and the length of its pause in milliseconds. */
const COLLECTION = /: (Scavenge|Mark-Compact)[^\n]*? MB, (?:pooled: [\d.]+ MB, )?([\d.]+) \/ [\d.]+ ms/;
const MANAGEMENT_KEY = `gw_mgmt_${'B3nch'.repeat(10).slice(0, 48)}`;
const USER_HEADER = 'x-user';
const AMPLE = { requests: { per_minute: 1_000_000_000, per_day: 1_000_000_000 }, spending: { monthly_usd: 1_000_000 } };
/** Both windows and a budget, for each user and for the application, so high that nothing is refused. */
export const AMPLE_LIMITS = { per_user: AMPLE, per_app: AMPLE };
/** Answers are kept, so that their clients may read on. */
export const KEPT = { name: 'answers kept', streams: { resume_seconds: 60 } };
/**
 * How often the computation of a pass-through at the bound is corrected: a busier process also needs longer for the
 * rest.
 */
const BOUND_CORRECTIONS = 3;

export class Bench {
  #dir;
  #postgres;
  #provider;
  #redisUrl;
  #parties = new Set();
  #made = 0;

  /** @param {{ dir: string, isPinned: boolean, seconds: number, against?: string, verdicts: object }} options */
  static async start({ dir, ...options }) {
    const bench = Object.assign(new Bench(), options);
    bench.#dir = dir;
    if (bench.isPinned) leaveMeasuredCore();
    bench.#postgres = await startEmbeddedPostgres(path.join(dir, 'postgres'));
    if (bench.isPinned) keepBehind(postmasterOf(bench.#postgres));
    const provider = await startModule('provider.mjs');
    bench.#provider = `http://127.0.0.1:${provider.ready.port}`;
    bench.load = await startWorker('load.mjs');
    return bench;
  }

  async stop() {
    await this.#postgres.stop();
  }

  async stopParties() {
    for (const party of this.#parties) await party.stop();
  }

  /** @returns the URL of a fresh database of the bench's own Postgres */
  async createDatabase() {
    const server = this.#postgres.url.reveal();
    const url = new URL(server);
    url.pathname = `/bench_${++this.#made}`;
    await query(server, `CREATE DATABASE bench_${this.#made}`);
    return url.href;
  }

  /** A Redis without persistence; one for all. */
  async redis() {
    if (this.#redisUrl) return this.#redisUrl;
    const port = await freePort();
    const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
    const { pid } = startProgram('redis-server', args, { cwd: this.#dir });
    if (pid === undefined) throw new Error('redis-server is not on the PATH');
    this.#redisUrl = `redis://127.0.0.1:${port}`;
    await withRedis(this.#redisUrl, (client) => client.ping());
    return this.#redisUrl;
  }

  /** @returns with `compute`, which sets the additional computation of each call, in microseconds */
  async startPassThrough(name = 'pass-through') {
    const party = await this.#startListening([moduleOf('pass-through.mjs'), this.#provider]);
    const target = { pid: party.pid, port: party.port, path: '/v1/chat/completions', headers: bearer('sk-bench') };
    party.callers.push({ name, party, target });
    return Object.assign(party, { compute: (computeUs) => party.child.send({ computeUs }) });
  }

  /**
   * A pass-through whose calls cost what the bound allows: no proxy of that cost has a lower latency.
   *
   * @param bare a pass-through that computes nothing, already warm
   * @param {(party) => Promise<number>} costUs CPU of a call of a party under the load that is measured, microseconds
   */
  async startAtBound(bare, warm, costUs) {
    const atBound = await this.startPassThrough('pass-through at the bound');
    await warm(atBound);
    let computeUs = 0;
    for (let correction = 0; correction < BOUND_CORRECTIONS; correction += 1) {
      computeUs += (await costUs(bare)) / TARGETS.callsOfPassThrough - (await costUs(atBound));
      atBound.compute(Math.max(0, computeUs));
    }
    return atBound;
  }

  /** The frameworks of the gateway without the gateway. */
  startEmptyApplication(databaseUrl) {
    return this.#startListening([moduleOf('empty-application.mjs'), databaseUrl]);
  }

  /**
   * A gateway with one provider, and one caller for each kind.
   *
   * @param {Array<{ name: string, limits?: object, streams?: object, hasUsers?: boolean }>} kinds of applications; with
   * users by default
   * @param options of {@link startGateway}
   */
  async startCallers(kinds, options) {
    const party = await this.startGateway(options);
    const provider = { type: 'openai', name: 'Bench', secret: 'sk-bench-0123456789', baseUrl: `${this.#provider}/` };
    await manage(party, '/v1/admin/providers', provider);
    for (const kind of kinds) party.callers.push(await addCaller(party, kind));
    return party;
  }

  /** @param {{ redisUrl?: string, databaseUrl?: string, dist?: string, settings?: object }} options */
  async startGateway({ redisUrl, dist = DIST, settings, databaseUrl } = {}) {
    const cwd = path.join(this.#dir, `gateway-${++this.#made}`);
    mkdirSync(cwd);
    const port = await freePort();
    const url = databaseUrl ?? (await this.createDatabase());
    const startedMs = performance.now();
    const env = { ...environmentOf(port, cwd, url), ...(redisUrl && { REDIS_URL: redisUrl }), ...settings };
    const party = this.#startParty([...(await optionsOf(dist)), path.join(dist, 'server/main.js')], { cwd, env });
    await waitUntilUp(party.child, `http://127.0.0.1:${port}/v1/readyz`, 10);
    return Object.assign(party, { port, databaseUrl: url, redisUrl, readyMs: performance.now() - startedMs });
  }

  /** A module that reports the port it listens on. @returns with the time until then, in milliseconds */
  async #startListening(args) {
    const startedMs = performance.now();
    const party = this.#startParty(args);
    const { port } = await firstMessage(party.child, START_PATIENCE_MS);
    return Object.assign(party, { port, readyMs: performance.now() - startedMs });
  }

  #startParty(args, options) {
    const pauses = [];
    const takes = (line) => {
      const found = COLLECTION.exec(line);
      if (found) pauses.push({ kind: found[1], ms: Number(found[2]), atMs: performance.now() });
      return found !== null;
    };
    const traced = ['--trace-gc', ...args];
    const [command, all] = this.isPinned ? onMeasuredCore(process.execPath, traced) : [process.execPath, traced];
    const child = startProgram(command, all, { ...options, takes });
    const stop = async () => {
      this.#parties.delete(party);
      await stopChild(child);
    };
    const party = { child, pid: child.pid, pauses, callers: [], stop };
    this.#parties.add(party);
    return party;
  }
}

/** The engine options of a build. */
async function optionsOf(dist) {
  const { engineOptions } = await import(path.join(dist, 'src/bootstrap/engine-options.rules.js'));
  return engineOptions(process.versions.node);
}

/**
 * In production Postgres has its own machine: calls do not wait for it, but here they would wait for load and provider.
 */
function postmasterOf({ directory }) {
  const [pid] = readFileSync(path.join(directory, 'data', 'postmaster.pid'), 'latin1').split('\n');
  return Number(pid);
}

export async function query(url, text, values) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Passes a connection to `work`. Throws if Redis does not respond. */
export async function withRedis(url, work) {
  const client = new Redis(url, { maxRetriesPerRequest: null, commandTimeout: 15_000 });
  client.on('error', () => {});
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}

const bearer = (credential) => ({ authorization: `Bearer ${credential}` });

/** Only what programs need of the caller's environment: in particular, not its DATABASE_URL or REDIS_URL. */
function environmentOf(port, dir, databaseUrl) {
  const { PATH, HOME, TMPDIR } = process.env;
  return {
    ...{ PATH, HOME, ...(TMPDIR && { TMPDIR }) },
    ...{ NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(port), LOG_LEVEL: 'warn', STOP_DELAY_SECONDS: '0' },
    ...{ DATA_DIR: path.join(dir, 'data'), DATABASE_URL: databaseUrl, TRUSTED_PRIVATE_HOSTS: '127.0.0.1' },
    ...{ BOOTSTRAP_MANAGEMENT_KEY: MANAGEMENT_KEY, JWT_SECRET: 'j'.repeat(48), AUTH_SECRET: 'a'.repeat(48) },
    ...{ SECRET_VAULT_MODE: 'local', SECRET_VAULT_LOCAL_KEK_V1: Buffer.alloc(32, 7).toString('base64') },
  };
}

/** An application, and the target of its calls: with users, each connection of the closed loop is one user. */
async function addCaller(party, { name, limits = {}, streams, hasUsers = true }) {
  const authentication = { type: 'api_key', ...(hasUsers && { end_user: { source: 'header', header: USER_HEADER } }) };
  const routing = { providers: { mode: 'all' }, model_rewrites: {} };
  const config = { authentication, routing, endpoints: {}, limits, ...(streams && { streams }) };
  const { app, api_key: apiKey } = await manage(party, '/v1/admin/apps', { name: 'Bench', config });
  const target = {
    pid: party.pid,
    port: party.port,
    path: `/v1/apps/${app.id}/proxy/openai/v1/chat/completions`,
    headers: bearer(apiKey.key),
    ...(hasUsers && { userHeader: USER_HEADER }),
  };
  await requireAnswer(target);
  return { name, party, target, appId: app.id };
}

/** Creates something through the management API. */
async function manage(party, route, body) {
  const { status, text } = await post(party.port, route, bearer(MANAGEMENT_KEY), JSON.stringify(body));
  if (status !== 201) throw new Error(`POST ${route} answered ${status}: ${text}\n${party.child.keptOutput}`);
  return JSON.parse(text);
}

/**
 * Returns once a call gets the expected response; a new configuration may take a moment. Throws with the last response.
 */
async function requireAnswer({ port, path: route, headers, userHeader }) {
  const deadline = performance.now() + FIRST_ANSWER_PATIENCE_MS;
  for (;;) {
    const all = { ...headers, ...(userHeader && { [userHeader]: 'user-0' }) };
    const { status, text } = await post(port, route, all, jsonCall());
    if (status === 200 && text.includes('"chat.completion"')) return;
    if (performance.now() > deadline) throw new Error(`a call is answered ${status}: ${text.slice(0, 400)}`);
    await sleep(200);
  }
}

async function post(port, route, headers, body) {
  const request = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
  const answer = await fetch(`http://127.0.0.1:${port}${route}`, { ...request, signal: AbortSignal.timeout(15_000) });
  return { status: answer.status, text: await answer.text() };
}
