/** A Redis of the bench's own that keeps nothing, where there is a server on the PATH. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { Redis } from 'ioredis';
import { findOnPath, freePort, startProgram } from './processes.mjs';

const START_PATIENCE_MS = 15_000;

/**
 * Throws when there is none or it does not start.
 *
 * @returns {Promise<{ pid: number, url: string }>}
 */
export async function startRedis(tempDir) {
  const program = findOnPath('redis-server');
  if (!program) throw new Error('redis-server is not on the PATH');
  const port = await freePort();
  const cwd = path.join(tempDir, 'redis');
  mkdirSync(cwd);
  const args = ['--bind', '127.0.0.1', '--port', String(port), '--save', '', '--appendonly', 'no'];
  const child = startProgram(program, args, { cwd, env: {} });
  const url = `redis://127.0.0.1:${port}`;
  await withRedis(url, (client) => client.ping());
  return { pid: child.pid, url };
}

/** Lends a connection to `work`. Throws when Redis does not answer. */
export async function withRedis(url, work) {
  const client = new Redis(url, { maxRetriesPerRequest: null, commandTimeout: START_PATIENCE_MS });
  client.on('error', () => {});
  try {
    return await work(client);
  } finally {
    client.disconnect();
  }
}
