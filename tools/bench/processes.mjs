/** Starting and stopping the bench's children. Only processes started here are ever signalled, each by its own id. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const STOP_GRACE_MS = 15_000;
const READY_MS = 60_000;
const KEPT_OUTPUT_CHARS = 4_000;
const children = new Set();

process.on('exit', () => {
  for (const child of children) child.kill('SIGTERM');
});

/** Notifies the parent that this process is ready, and ends it with the parent. */
export function announce(message) {
  process.on('disconnect', () => process.exit(0));
  process.send(message);
}

/** Starts a module of this folder and waits for its `announce`. Throws if it ends or sends nothing. */
export async function startModule(fileName) {
  const child = startProgram(process.execPath, [moduleOf(fileName)]);
  return { child, ready: await firstMessage(child, READY_MS) };
}

/** Where a module of this folder is. */
export function moduleOf(fileName) {
  return fileURLToPath(new URL(fileName, import.meta.url));
}

/**
 * Starts any program, with a channel for messages that keeps NaN, which JSON does not.
 *
 * @param {{ cwd?: string, env?: object, takes?: (line: string) => boolean }} options `takes` filters lines of output
 * that are useless in an error message
 */
export function startProgram(command, args, { cwd, env = process.env, takes = () => false } = {}) {
  const stdio = ['ignore', 'pipe', 'pipe', 'ipc'];
  const child = spawn(command, args, { cwd, env, stdio, serialization: 'advanced' });
  child.keptOutput = '';
  const keep = (text) => {
    child.keptOutput = `${child.keptOutput}${text}\n`.slice(-KEPT_OUTPUT_CHARS);
  };
  createInterface({ input: child.stdout }).on('line', (line) => takes(line) || keep(line));
  createInterface({ input: child.stderr }).on('line', keep);
  children.add(child);
  child.once('exit', () => children.delete(child));
  child.once('error', (error) => keep(error.message));
  return child;
}

/** The next message of a child. Throws with the child's last output if it ends first or times out. */
export async function firstMessage(child, timeoutMs) {
  const over = new AbortController();
  const giveUp = () => over.abort();
  const timer = setTimeout(giveUp, timeoutMs);
  child.once('exit', giveUp);
  try {
    const [message] = await once(child, 'message', { signal: over.signal });
    return message;
  } catch {
    throw new Error(`${child.spawnargs.join(' ')} ended or told nothing: ${child.keptOutput}`);
  } finally {
    clearTimeout(timer);
    child.off('exit', giveUp);
  }
}

/** Waits until a GET of `url` returns 200. Throws with the child's last output if it ends or times out. */
export async function waitUntilUp(child, url, everyMs) {
  const deadline = performance.now() + READY_MS;
  while (performance.now() < deadline && !hasEnded(child)) {
    if ((await fetch(url).catch(() => undefined))?.status === 200) return;
    await sleep(everyMs);
  }
  throw new Error(`${url} is not up: ${child.keptOutput}`);
}

/** A currently free loopback port. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

const hasEnded = (child) => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/** SIGTERM, then SIGKILL after a grace. */
export async function stopChild(child) {
  if (hasEnded(child)) return;
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(timer);
}

/** Stops everything this process started. */
export async function stopChildren() {
  await Promise.all([...children].map(stopChild));
}
