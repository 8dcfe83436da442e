/** Closed loop: every connection sends its next call when the last one is answered. For CPU efficiency, not latency. */
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './clock.mjs';
import { Connection, requestBytes } from './connection.mjs';
import { cpuSeconds, descendantsCpuSeconds } from './resources.mjs';

const RECONNECT_MS = 10;

/** CPU of the measured process and of what it started, seconds, and the moment; subtract two of them. */
export function readMeter(pid) {
  return { atMs: nowMs(), cpu: cpuSeconds(pid), below: descendantsCpuSeconds(pid) };
}

/** What passed between two readings. `cpuSeconds` is never 0, so that ratios stay finite on a short window. */
export function between(start, end) {
  return {
    seconds: (end.atMs - start.atMs) / 1e3,
    cpuSeconds: Math.max(end.cpu - start.cpu, 0.001),
    cpuSecondsBelow: Math.max(end.below - start.below, 0),
  };
}

/**
 * Runs the loop and meters the target between warm-up and end.
 *
 * @returns {{ completed: number, failed: number, seconds: number, cpuSeconds: number, cpuSecondsBelow: number }}
 */
export async function closedLoop({ target, body, connections, warmMs, durationMs }) {
  const request = requestBytes(target, body);
  const counts = { completed: 0, failed: 0 };
  const loops = Array.from({ length: connections }, () => new Loop(target.port, request, counts));
  await sleep(warmMs);
  const before = { ...counts };
  const start = readMeter(target.pid);
  await sleep(durationMs);
  const end = readMeter(target.pid);
  const measured = { completed: counts.completed - before.completed, failed: counts.failed - before.failed };
  for (const loop of loops) loop.stop();
  return { ...measured, ...between(start, end) };
}

class Loop {
  #port;
  #request;
  #counts;
  #connection = null;
  #stopped = false;

  constructor(port, request, counts) {
    this.#port = port;
    this.#request = request;
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
    this.#connection.send(this.#request, { onEnd: (statusCode) => this.#onEnd(statusCode) });
  }

  #onEnd(statusCode) {
    if (statusCode === 200) this.#counts.completed += 1;
    else this.#counts.failed += 1;
    if (!this.#stopped) this.#next();
  }
}
