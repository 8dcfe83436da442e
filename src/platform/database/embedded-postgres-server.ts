import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EmbeddedPostgresOptions,
  parseServerStatus,
  type ServerStatus,
  serverSettings,
} from './embedded-postgres.rules.js';
import { programOptions, runProgram } from './embedded-postgres-cluster.js';
import type { EmbeddedHome } from './embedded-postgres-home.js';

const POLL_MS = 20;

/** Recovery after a crash reads about a gigabyte of log at most; a server that needs longer will never be ready. */
const READY_WITHIN_MS = 120_000;

const STOP_WITHIN_SECONDS = 60;

/** A port is found free before the server takes it, so another program may be faster. */
const LAUNCHES = 3;

const MAX_LOG_BYTES = 10 * 1024 * 1024;

/** How much of the server's log an error quotes. */
const LOG_TAIL_CHARACTERS = 2_000;

/**
 * The port of a server that already runs on this cluster, after waiting for it to finish starting or stopping.
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

/**
 * Starts a server on the cluster. It outlives this process, so that a crash of ours costs no recovery.
 *
 * @returns the loopback port on which it accepts connections.
 * @throws Error quoting the end of the server's log.
 */
export async function launchServer(home: EmbeddedHome, bin: string, options: EmbeddedPostgresOptions): Promise<number> {
  for (let launch = 1; launch <= LAUNCHES; launch++) {
    disownProcessId(home);
    const port = await findFreePort();
    const server = spawnServer(home, join(bin, 'postgres'), ['-D', home.cluster, ...serverSettings(port, options)]);
    if (await becomesReady(home, server)) return port;
  }
  const tail = readFileSync(home.logFile, 'utf8').slice(-LOG_TAIL_CHARACTERS).trim();
  throw new Error(`Postgres did not start on ${home.cluster}. The end of ${home.logFile}:\n${tail}`);
}

/** Ends the server, if one runs: rolls back what is open, writes everything out. */
export async function stopServer(home: EmbeddedHome, bin: string): Promise<void> {
  if (readLiveStatus(home) === undefined) return;
  const args = ['stop', '-D', home.cluster, '-m', 'fast', '-w', '-t', String(STOP_WITHIN_SECONDS)];
  await runProgram(home, join(bin, 'pg_ctl'), args);
}

/** The status of a server that lives; what a dead one left behind does not count. */
function readLiveStatus(home: EmbeddedHome): ServerStatus | undefined {
  const file = statusFile(home);
  const status = existsSync(file) ? parseServerStatus(readFileSync(file, 'utf8')) : undefined;
  return status !== undefined && isServerOf(home, status.pid) ? status : undefined;
}

/** Whether the process is a server of this cluster, and not a later process that was given the same id. */
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
 * Makes a dead server's `postmaster.pid` harmless when its process id now belongs to somebody else, which happens
 * whenever a container restarts; Postgres would refuse to start. Deleting the file would also disable its check for
 * surviving children of the dead server, so only the id is replaced: by ours, since a server ignores its parent's.
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
  if (address === null || typeof address === 'string') throw new Error('The system gave no port on 127.0.0.1.');
  return address.port;
}

function statusFile(home: EmbeddedHome): string {
  return join(home.cluster, 'postmaster.pid');
}
