import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from '@jest/globals';
import { Redis } from 'ioredis';
import { eventually } from '../eventually.js';
import { freePort } from './gateway-process.js';

/** A Redis of a suite's own, which can fail in the ways a server does. */
export type TestRedis = Awaited<ReturnType<typeof startRedis>>;

/** Waits of a connection to Redis that a busy machine keeps. */
export const PATIENT_TIMEOUTS = { commandMs: 2_000, connectMs: 5_000, discoveryMs: 1_500 };

const PROGRAM = 'redis-server';
const START_MS = 20_000;
const hasProgram = spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0;
const givenUrl = process.env.REDIS_URL;

/** A suite that shares one Redis: `REDIS_URL`, else one that is started. Skipped by name where there is neither. */
export const describeWithRedis = hasProgram || givenUrl ? describe : skipped('no REDIS_URL and no redis-server');

/** A suite that breaks its Redis, so it must have started it. Skipped by name where it cannot. */
export const describeBreakingRedis = hasProgram ? describe : skipped('no redis-server on the PATH');

function skipped(reason: string) {
  return (name: string, suite: () => void) => describe.skip(`${name} (skipped: ${reason})`, suite);
}

/**
 * Where a suite of `describeWithRedis` counts; stop it in `afterAll`. Its address is empty where there is none, for
 * files that have other suites, too.
 */
export async function reachRedis(): Promise<Pick<TestRedis, 'url' | 'stop'>> {
  return givenUrl || !hasProgram ? { url: givenUrl ?? '', stop: async () => undefined } : startRedis();
}

/**
 * Starts a server that keeps nothing, on a free port of 127.0.0.1.
 *
 * @param writeSettings writes a file into the server's directory, for what cannot be said otherwise, and names it.
 */
export async function startRedis(options: readonly string[] = [], writeSettings?: (directory: string) => string) {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'gateway-redis-'));
  const file = writeSettings === undefined ? [] : [writeSettings(directory)];
  const place = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory];
  const args = [...file, ...place, '--save', '', '--appendonly', 'no', ...options];
  let server = await launch(port, args);
  const kill = async () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill('SIGKILL');
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    /** It keeps its connections and answers nothing. */
    freeze: () => void server.kill('SIGSTOP'),
    thaw: () => void server.kill('SIGCONT'),
    /** Kills it; its data is lost. */
    kill,
    /** Starts it again on the same port, empty. */
    async revive() {
      server = await launch(port, args);
    },
    async stop() {
      await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function launch(port: number, args: readonly string[]): Promise<ChildProcess> {
  const server = spawn(PROGRAM, args, { stdio: 'ignore' });
  await eventually(() => answers(port), { withinMs: START_MS });
  return server;
}

/** True as soon as it speaks, also when it wants a password first. */
async function answers(port: number): Promise<boolean> {
  try {
    await connectedTo({ port }, (redis) => redis.ping());
    return true;
  } catch (error) {
    return String(error).includes('NOAUTH');
  }
}

/** Works on a separate connection, of one attempt, to a server on 127.0.0.1. */
export async function connectedTo<T>(
  at: { readonly port: number; readonly password?: string },
  work: (redis: Redis) => Promise<T>,
): Promise<T> {
  const oneAttempt = { lazyConnect: true, retryStrategy: null, enableReadyCheck: false, disconnectTimeout: 0 };
  const redis = new Redis({ ...at, host: '127.0.0.1', ...oneAttempt });
  redis.on('error', () => undefined);
  try {
    await redis.connect();
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}
