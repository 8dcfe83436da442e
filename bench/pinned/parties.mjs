/**
 * The measured processes of the pinned bench, each alone on its core while it is measured: the others idle there. The
 * database is one of the bench's own, and not of the measured core.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/src/platform/embedded-postgres/embedded-postgres.js';
import { addProvider, gatewayEnvironment, managed } from '../gateway.mjs';
import { addCaller } from '../limits/limited-caller.mjs';
import { bearer } from '../party.mjs';
import { forkModule, freePort, stopChild, waitUntilUp } from '../processes.mjs';
import { TARGETS } from '../targets.mjs';
import { keepBehind, onMeasuredCore } from './cores.mjs';

const DIST = fileURLToPath(new URL('../../dist', import.meta.url));
const PASS_THROUGH = fileURLToPath(new URL('../pass-through.mjs', import.meta.url));
const EMPTY_APPLICATION = fileURLToPath(new URL('empty-application.mjs', import.meta.url));
const START_PATIENCE_MS = 60_000;
/** A line of `--trace-gc`: its kind, and the length of its pause in milliseconds. */
const COLLECTION = /: (Scavenge|Mark-Compact)[^\n]*? MB, (?:pooled: [\d.]+ MB, )?([\d.]+) \/ [\d.]+ ms/;
/** What an external database asks for; the bench's databases end with it. */
const SECRETS = {
  JWT_SECRET: 'j'.repeat(48),
  AUTH_SECRET: 'a'.repeat(48),
  SECRET_VAULT_MODE: 'local',
  SECRET_VAULT_LOCAL_KEK_V1: Buffer.alloc(32, 7).toString('base64'),
};
const READY = '/v1/readyz';
export const THIS_BUILD = 'this build';
const AT_BOUND = 'pass-through at the bound';
/** What its calls compute is corrected so often: a busier process also takes longer for what it did before. */
const BOUND_CORRECTIONS = 3;

/** They end with the bench, however that ends. */
const measured = new Set();
process.once('exit', () => {
  for (const child of measured) child.kill('SIGTERM');
});

/** A program on the measured core, with the pauses of its garbage collector. */
function startMeasured(args, { cwd, env }) {
  const [command, commandArgs] = onMeasuredCore(process.execPath, ['--trace-gc', ...args]);
  const child = spawn(command, commandArgs, { cwd, env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  const pauses = [];
  child.keptOutput = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    const found = COLLECTION.exec(line);
    if (found) pauses.push({ kind: found[1], ms: Number(found[2]), atMs: performance.now() });
    else child.keptOutput = `${child.keptOutput}${line}\n`.slice(-4_000);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    child.keptOutput = (child.keptOutput + text).slice(-4_000);
  });
  measured.add(child);
  child.once('exit', () => measured.delete(child));
  return { child, pauses };
}

function firstMessage(child) {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', () => reject(new Error(`${child.spawnargs.join(' ')} ended: ${child.keptOutput}`)));
  });
}

/** A module that says on which port it listens. @returns with how long it took until then, milliseconds */
async function startListening(args) {
  const startedMs = performance.now();
  const { child, pauses } = startMeasured(args, { env: process.env });
  const { port } = await firstMessage(child);
  return { child, pauses, port, readyMs: performance.now() - startedMs };
}

/** The frameworks of the gateway without the gateway. */
export async function startEmptyApplication(databaseUrl) {
  const { child, readyMs } = await startListening([EMPTY_APPLICATION, databaseUrl]);
  return { pid: child.pid, readyMs, stop: () => stopChild(child) };
}

/** A fresh pass-through. @returns with `compute`, which tells it what each of its calls computes in addition */
export async function startPassThrough(upstreamPort, name = 'pass-through') {
  const { child, pauses, port, readyMs } = await startListening([PASS_THROUGH, `http://127.0.0.1:${upstreamPort}`]);
  const caller = {
    name,
    pid: child.pid,
    port,
    path: '/v1/chat/completions',
    headers: bearer('sk-bench'),
  };
  const compute = (computeUs) => child.send({ computeUs });
  return { pid: child.pid, pauses, readyMs, callers: [caller], compute, stop: () => stopChild(child) };
}

/**
 * A pass-through whose calls cost what the bound allows: no proxy of that cost has a lower latency.
 *
 * @param bare a pass-through that computes nothing, already warm
 * @param {(party) => Promise<number>} costUs CPU of a call of a party under the load that is measured, microseconds
 * @param {(party) => Promise<void>} warm
 */
export async function startAtBound(upstreamPort, bare, costUs, warm) {
  const atBound = await startPassThrough(upstreamPort, AT_BOUND);
  await warm(atBound);
  let computeUs = 0;
  for (let correction = 0; correction < BOUND_CORRECTIONS; correction += 1) {
    computeUs += (await costUs(bare)) / TARGETS.pinnedUsers - (await costUs(atBound));
    atBound.compute(Math.max(0, computeUs));
  }
  return atBound;
}

/** A provider for calls of 1 KB; only its answers have the shape of a provider's. */
export async function startProvider() {
  const { ready } = await forkModule('pinned/provider.mjs');
  return { port: ready.port };
}

/**
 * The bench's own Postgres, and databases in it. Elsewhere it has a machine of its own; here it shares a core with load and
 * provider, and runs only while neither wants it: calls do not wait for the database, but they would wait for both.
 */
export async function startDatabases(dir) {
  const server = await startEmbeddedPostgres(path.join(dir, 'postgres'));
  const [pid] = readFileSync(path.join(server.directory, 'data', 'postmaster.pid'), 'latin1').split('\n');
  keepBehind(Number(pid));
  let made = 0;
  return {
    url: server.url.reveal(),
    stop: () => server.stop(),
    create: async () => {
      made += 1;
      const name = `bench_${made}`;
      await query(server.url.reveal(), `CREATE DATABASE ${name}`);
      const url = new URL(server.url.reveal());
      url.pathname = `/${name}`;
      return url.href;
    },
  };
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

/**
 * Starts a gateway on the measured core.
 *
 * @param {{ dir: string, databaseUrl: string, redisUrl?: string, dist?: string, settings?: object }} of
 * @returns its process and how long it took until it was ready, milliseconds
 */
export async function startGateway({ dir, databaseUrl, redisUrl, dist = DIST, settings = {} }) {
  mkdirSync(dir, { recursive: true });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const env = {
    ...gatewayEnvironment(port, dir),
    DATABASE_URL: databaseUrl,
    ...SECRETS,
    ...(redisUrl && { REDIS_URL: redisUrl }),
    ...settings,
  };
  const startedMs = performance.now();
  // Builds before ADR 0066 have no bundle.
  const [program] = ['server/main.js', 'src/main.js'].map((name) => path.join(dist, name)).filter(existsSync);
  const { child, pauses } = startMeasured([program], { cwd: dir, env });
  await waitUntilUp(child, `${origin}${READY}`, START_PATIENCE_MS, 10);
  const readyMs = performance.now() - startedMs;
  const manage = (route, body) => managed(origin, route, body);
  return { pid: child.pid, port, pauses, readyMs, databaseUrl, manage, stop: () => stopChild(child) };
}

/** A gateway with one provider, and one caller for each kind of limits. */
export async function startCallers(gateway, upstreamPort, kinds) {
  await addProvider(gateway, upstreamPort);
  const callers = [];
  for (const { name, limits } of kinds) callers.push(await addCaller(gateway, name, limits));
  return { ...gateway, callers };
}

/** A caller as a target whose calls are all for one user, where it names users. */
export function forUser({ userHeader, ...target }, user) {
  return userHeader ? { ...target, headers: { ...target.headers, [userHeader]: user } } : target;
}
