import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EmbeddedPostgresOptions,
  parseServerStatus,
  reportsSurvivors,
  type ServerStatus,
  serverSettings,
} from './embedded-postgres.rules.js';
import { programOptions, runProgram } from './embedded-postgres-cluster.js';
import type { EmbeddedHome } from './embedded-postgres-home.js';

const POLL_MS = 20;

/** Crash recovery reads at most about a gigabyte of WAL; a server that needs longer does not become ready. */
const READY_WITHIN_MS = 120_000;

const STOP_WITHIN_SECONDS = 60;

/** Another program may take the port between the check and the start of the server. */
const LAUNCHES = 3;

/** The children of a killed server end with the statement they run. */
const SURVIVORS_END_WITHIN_MS = 60_000;

const SURVIVORS_POLL_MS = 200;

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** Length of the server log excerpt in an error. */
const LOG_TAIL_CHARACTERS = 2_000;

/**
 * The port of a server that already runs on this cluster, after it finished starting or stopping.
 *
 * @returns `undefined` when none runs.
 * @throws Error when it is neither ready nor gone within two minutes.
 */
export async function findRunningServer(home: EmbeddedHome): Promise<number | undefined> {
  for (let waitedMs = 0; waitedMs < READY_WITHIN_MS; waitedMs += POLL_MS) {
    const status = readLiveStatus(home);
    if (status === undefined) return undefined;
    if (status.readyPort !== undefined) return status.readyPort;
    await sleep(POLL_MS);
  }
  throw new Error(`The Postgres on ${home.cluster} runs but is not ready; see ${home.logFile}.`);
}

/** Whether a server runs on this cluster, ready or not. */
export function isServerAlive(home: EmbeddedHome): boolean {
  return readLiveStatus(home) !== undefined;
}

/**
 * Starts a server on the cluster. It outlives this process, so a crash of this process needs no recovery. Waits up to a
 * minute for the children of a killed server, beside which Postgres refuses to start.
 *
 * @param requiredPort absent: that of a killed server, which other processes may be waiting for, or any.
 * @returns the loopback port on which it accepts connections.
 * @throws Error with the end of the server log.
 */
export async function launchServer(
  home: EmbeddedHome,
  bin: string,
  options: EmbeddedPostgresOptions,
  requiredPort?: number,
): Promise<number> {
  for (let launch = 1, waitedMs = 0; launch <= LAUNCHES; ) {
    const killedPort = launch === 1 ? readStatus(home)?.readyPort : undefined;
    disownProcessId(home);
    const port = requiredPort ?? killedPort ?? (await findFreePort());
    const server = spawnServer(home, join(bin, 'postgres'), ['-D', home.cluster, ...serverSettings(port, options)]);
    if (await becomesReady(home, server)) return port;
    if (waitedMs < SURVIVORS_END_WITHIN_MS && reportsSurvivors(logTail(home))) {
      await sleep(SURVIVORS_POLL_MS);
      waitedMs += SURVIVORS_POLL_MS;
    } else launch++;
  }
  throw new Error(`Postgres did not start on ${home.cluster}. The end of ${home.logFile}:\n${logTail(home)}`);
}

function logTail(home: EmbeddedHome): string {
  return readFileSync(home.logFile, 'utf8').slice(-LOG_TAIL_CHARACTERS).trim();
}

/** Stops the server, if one runs: rolls back open transactions and writes everything to disk. */
export async function stopServer(home: EmbeddedHome, bin: string): Promise<void> {
  if (readLiveStatus(home) === undefined) return;
  const args = ['stop', '-D', home.cluster, '-m', 'fast', '-w', '-t', String(STOP_WITHIN_SECONDS)];
  await runProgram(home, join(bin, 'pg_ctl'), args);
}

/** The status of a running server; the stale file of a dead server is ignored. */
function readLiveStatus(home: EmbeddedHome): ServerStatus | undefined {
  const status = readStatus(home);
  return status !== undefined && isServerOf(home, status.pid) ? status : undefined;
}

function readStatus(home: EmbeddedHome): ServerStatus | undefined {
  const file = statusFile(home);
  return existsSync(file) ? parseServerStatus(readFileSync(file, 'utf8')) : undefined;
}

/** True when the process is a server of this cluster and not a later process with the same id. */
function isServerOf(home: EmbeddedHome, pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== 'linux') return true;
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(home.cluster);
  } catch {
    return existsSync(`/proc/${pid}`);
  }
}

/**
 * Repairs a stale `postmaster.pid` whose process id now belongs to another process, as happens when a container
 * restarts; Postgres would refuse to start. Deleting the file would also disable its check for surviving children of
 * the dead server, so only the id is replaced by that of this process: a server ignores its parent's id.
 */
function disownProcessId(home: EmbeddedHome): void {
  const file = statusFile(home);
  if (!existsSync(file) || readLiveStatus(home) !== undefined) return;
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^.*/, String(process.pid)));
}

function spawnServer(home: EmbeddedHome, program: string, args: readonly string[]): ChildProcess {
  if (existsSync(home.logFile) && statSync(home.logFile).size > MAX_LOG_BYTES) {
    renameSync(home.logFile, `${home.logFile}.1`);
  }
  const log = openSync(home.logFile, 'a', 0o600);
  try {
    const server = spawn(program, args, { ...programOptions(home), detached: true, stdio: ['ignore', log, log] });
    server.on('error', (error) => writeFileSync(home.logFile, `${error.message}\n`, { flag: 'a' }));
    server.unref();
    return server;
  } finally {
    closeSync(log);
  }
}

async function becomesReady(home: EmbeddedHome, server: ChildProcess): Promise<boolean> {
  for (let waitedMs = 0; waitedMs < READY_WITHIN_MS; waitedMs += POLL_MS) {
    if (server.pid === undefined || server.exitCode !== null || server.signalCode !== null) return false;
    const status = readLiveStatus(home);
    if (status?.pid === server.pid && status.readyPort !== undefined) return true;
    await sleep(POLL_MS);
  }
  return false;
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('The system assigned no port on 127.0.0.1.');
  return address.port;
}

function statusFile(home: EmbeddedHome): string {
  return join(home.cluster, 'postmaster.pid');
}
