/**
 * The measured processes of the pinned bench, each alone on its core while it is measured: the others idle there. The
 * database is one of the bench's own, and not of the measured core.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/src/platform/database/embedded-postgres.js';
import { addProvider, gatewayEnvironment, managed } from '../gateway.mjs';
import { addCaller } from '../limits/limited-caller.mjs';
import { bearer } from '../party.mjs';
import { freePort, stopChild, waitUntilUp } from '../processes.mjs';
import { TARGETS } from '../targets.mjs';
import { onMeasuredCore } from './cores.mjs';

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

/** The frameworks of the gateway without the gateway. */
export async function startEmptyApplication(databaseUrl) {
  const { child } = startMeasured([EMPTY_APPLICATION, databaseUrl], { env: process.env });
  await firstMessage(child);
  return { pid: child.pid, stop: () => stopChild(child) };
}

/** A fresh pass-through. @param extraMicroseconds what each of its calls computes in addition. */
export async function startPassThrough(upstreamPort, { name = 'pass-through', extraMicroseconds = 0 } = {}) {
  const args = [PASS_THROUGH, `http://127.0.0.1:${upstreamPort}`, String(extraMicroseconds)];
  const { child, pauses } = startMeasured(args, { env: process.env });
  const { port } = await firstMessage(child);
  const caller = {
    name,
    pid: child.pid,
    port,
    path: '/v1/chat/completions',
    headers: bearer('sk-bench'),
  };
  return { pid: child.pid, pauses, callers: [caller], stop: () => stopChild(child) };
}

/**
 * A pass-through whose calls cost what the bound allows: no proxy of that cost has a lower latency.
 *
 * @param bareUs CPU of a call of the bare one under the same load, microseconds
 */
export function startAtBound(upstreamPort, bareUs) {
  return startPassThrough(upstreamPort, { name: AT_BOUND, extraMicroseconds: bareUs * (1 / TARGETS.pinnedUsers - 1) });
}

/** The bench's own Postgres, and databases in it. */
export async function startDatabases(dir) {
  const server = await startEmbeddedPostgres(path.join(dir, 'postgres'));
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
