/** Closed loop: every connection sends its next call when the last one is answered. For CPU efficiency, not latency. */
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './clock.mjs';
import { Connection, requestBytes } from './connection.mjs';
import { cpuSeconds, descendantsCpuSeconds } from './resources.mjs';
import { summary } from './statistics.mjs';

const RECONNECT_MS = 10;

/**
 * CPU of the measured process and of what it started, seconds, and the moment; subtract two of them.
 *
 * @param {number[]} [workerPids] those below it that serve with it: theirs is its own CPU
 */
export function readMeter(pid, workerPids = []) {
  const workers = workerPids.map(cpuSeconds);
  const ofWorkers = sum(workers);
  const below = descendantsCpuSeconds(pid) - ofWorkers;
  const idle = sum(os.cpus().map(({ times }) => times.idle)) / 1e3;
  return { atMs: nowMs(), cpu: cpuSeconds(pid) + ofWorkers, workers, below, idle };
}

/**
 * What passed between two readings. `cpuSeconds` is never 0, so that ratios stay finite on a short window. `idleShare`
 * is of all cores of the machine.
 */
export function between(start, end) {
  const seconds = (end.atMs - start.atMs) / 1e3;
  return {
    seconds,
    cpuSeconds: Math.max(end.cpu - start.cpu, 0.001),
    cpuSecondsBelow: Math.max(end.below - start.below, 0),
    workerCpuSeconds: end.workers.map((cpu, i) => cpu - start.workers[i]),
    idleShare: (end.idle - start.idle) / seconds / os.cpus().length,
  };
}

const sum = (values) => values.reduce((total, value) => total + value, 0);

/**
 * Runs the loop and meters the target between warm-up and end.
 *
 * @param {{ users?: number, targets?: object[] }} job calls are for so many users, one for each connection unless stated,
 *   and go to these targets of the same process in turn; `connections`, `warmMs` and `durationMs` as named
 * @returns `completed` and `failed` calls, the `times` of answers (ms), what `between` tells, and `answered`: all of them,
 *   warm-up included
 */
export async function closedLoop(job) {
  const { target, connections, warmMs, durationMs } = job;
  const counts = { completed: 0, failed: 0, timesMs: [] };
  const loops = Array.from({ length: connections }, (_, at) => new Loop(target.port, requestsOf(job, at), counts));
  await sleep(warmMs);
  const before = { completed: counts.completed, failed: counts.failed };
  counts.timesMs.length = 0;
  const start = readMeter(target.pid, target.workerPids);
  await sleep(durationMs);
  const end = readMeter(target.pid, target.workerPids);
  const measured = { completed: counts.completed - before.completed, failed: counts.failed - before.failed };
  for (const loop of loops) loop.stop();
  const times = summary(counts.timesMs);
  return { ...measured, answered: counts.completed, times, ...between(start, end) };
}

/** The requests of one connection, by their number; the same bytes each time where one serves all. */
function requestsOf({ target, targets = [target], users, body, connections }, at) {
  if (targets.length === 1 && users === undefined) {
    const only = requestBytes(namingUser(target, at), body);
    return () => only;
  }
  return (turn) => {
    const call = turn * connections + at;
    return requestBytes(namingUser(targets[call % targets.length], call % (users ?? connections)), body);
  };
}

function namingUser(target, at) {
  if (!target.userHeader) return target;
  return { ...target, headers: { ...target.headers, [target.userHeader]: `user-${at}` } };
}

class Loop {
  #port;
  #requestAt;
  #counts;
  #connection = null;
  #stopped = false;
  #sentMs = 0;
  #turn = 0;

  constructor(port, requestAt, counts) {
    this.#port = port;
    this.#requestAt = requestAt;
    this.#counts = counts;
    this.#connect();
  }

  stop() {
    this.#stopped = true;
    this.#connection.destroy();
  }

  #connect() {
    if (this.#stopped) return;
    this.#connection = new Connection(this.#port, () => {
      this.#counts.failed += 1;
      setTimeout(() => this.#connect(), RECONNECT_MS);
    });
    this.#next();
  }

  #next() {
    const request = this.#requestAt(this.#turn++);
    this.#sentMs = nowMs();
    this.#connection.send(request, { onEnd: (statusCode) => this.#onEnd(statusCode) });
  }

  #onEnd(statusCode) {
    this.#counts.timesMs.push(nowMs() - this.#sentMs);
    if (statusCode === 200) this.#counts.completed += 1;
    else this.#counts.failed += 1;
    if (!this.#stopped) this.#next();
  }
}
