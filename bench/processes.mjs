/** Starting and stopping the bench's children. Only processes started here are ever signalled, each by its own id. */
import { fork, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { descendants, isStillAlive } from './resources.mjs';

const STOP_GRACE_MS = 15_000;
const FORK_READY_MS = 10_000;
const KEPT_OUTPUT_CHARS = 4_000;
const children = new Set();

/** Tells the parent that this forked process is ready, and makes it end when the parent does. */
export function announce(message) {
  process.on('disconnect', () => process.exit(0));
  process.send?.(message);
}

/** Forks a module of this folder and waits for its `announce`. Throws when it ends or stays silent. */
export async function forkModule(fileName, args = []) {
  const child = track(fork(fileURLToPath(new URL(fileName, import.meta.url)), args, { execArgv: [], silent: true }));
  const ready = await firstMessage(child, FORK_READY_MS);
  return { child, ready };
}

/** The next message of a forked child. Throws with the child's last output when it ends first or time runs out. */
export function firstMessage(child, timeoutMs) {
  return new Promise((resolve, reject) => {
    const settle = (act, value) => {
      clearTimeout(timer);
      child.off('message', onMessage).off('exit', onExit);
      act(value);
    };
    const onMessage = (message) => settle(resolve, message);
    const onExit = (code) => settle(reject, new Error(`${child.spawnfile} ended (${code}): ${lastOutput(child)}`));
    const timer = setTimeout(() => settle(reject, new Error(`no message within ${timeoutMs} ms`)), timeoutMs);
    child.once('message', onMessage).once('exit', onExit);
  });
}

/** Starts any program with exactly the given environment. */
export function startProgram(command, args, { cwd, env }) {
  return track(spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

function track(child) {
  children.add(child);
  child.keptOutput = '';
  const keep = (text) => {
    child.keptOutput = (child.keptOutput + text).slice(-KEPT_OUTPUT_CHARS);
  };
  child.stdout?.setEncoding('utf8').on('data', keep);
  child.stderr?.setEncoding('utf8').on('data', keep);
  child.once('exit', () => children.delete(child));
  child.once('error', (error) => {
    keep(error.message);
    children.delete(child);
  });
  return child;
}

/** The end of what the child has printed, for error messages. */
export function lastOutput(child) {
  return child.keptOutput.trim() || 'it printed nothing';
}

const hasEnded = (child) => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

/** Waits until a GET of `url` answers below 500. Throws with the child's last output when it ends or time runs out. */
export async function waitUntilUp(child, url, timeoutMs, everyMs = 100) {
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if (hasEnded(child)) throw new Error(`it ended at start: ${lastOutput(child)}`);
    const status = await getStatus(url);
    if (status > 0 && status < 500) return;
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
  throw new Error(`not up within ${timeoutMs / 1000} s: ${lastOutput(child)}`);
}

/** The status of one GET; 0 when nobody answers. */
function getStatus(url) {
  return new Promise((resolve) => {
    const request = http.get(url, { agent: false, timeout: 2_000 }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(0));
  });
}

/** A loopback port nobody listens on at this moment. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Where a program is; undefined when it is not on the PATH. */
export function findOnPath(name) {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter(Boolean);
  return folders.map((folder) => path.join(folder, name)).find(isExecutable);
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** SIGTERM, then SIGKILL after a grace; processes the child had started and left behind are ended too. */
export async function stopChild(child) {
  if (hasEnded(child)) return;
  const family = descendants(child.pid);
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  await ended;
  clearTimeout(timer);
  for (const orphan of family.filter(isStillAlive)) process.kill(orphan.pid, 'SIGTERM');
}

/** Stops everything this process started. */
export async function stopChildren() {
  await Promise.all([...children].map(stopChild));
}

process.on('exit', () => {
  for (const child of children) child.kill('SIGTERM');
});
