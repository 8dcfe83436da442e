/**
 * Open loop: calls leave at a fixed rate whether or not earlier ones were answered, and each is timed from the moment
 * it was due, so a party that stalls cannot hide the calls it delayed.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './clock.mjs';
import { Connection, requestBytes } from './connection.mjs';
import { summary } from './statistics.mjs';

const CONNECTIONS = 16;
const ANSWER_PATIENCE_MS = 3_000;

/** @returns {Promise<{ failed: number, count: number, p50: number, p99: number, max: number }>} times in ms */
export async function openLoop({ target, body, callsPerSecond, warmMs, durationMs }) {
  const counts = { pending: 0, failed: 0, timesMs: [] };
  const caller = startCaller(target.port, requestBytes(target, body), counts);
  const firstMs = nowMs() + 100;
  const calls = (callsPerSecond * (warmMs + durationMs)) / 1e3;
  for (let sent = 0; sent < calls; sent += 1) {
    const dueMs = firstMs + (sent * 1e3) / callsPerSecond;
    while (nowMs() < dueMs) await sleep(Math.floor(dueMs - nowMs()));
    caller.send(dueMs, dueMs >= firstMs + warmMs);
  }
  const giveUpMs = nowMs() + ANSWER_PATIENCE_MS;
  while (counts.pending > 0 && nowMs() < giveUpMs) await sleep(20);
  caller.stop();
  return { failed: counts.failed + counts.pending, ...summary(counts.timesMs) };
}

/** Sends each call on the connection that was idle last, or on a new one. */
function startCaller(port, request, counts) {
  const all = new Set();
  const idle = [];
  const open = () => {
    const connection = new Connection(port, () => {
      all.delete(connection);
      const idleAt = idle.indexOf(connection);
      if (idleAt !== -1) return idle.splice(idleAt, 1);
      counts.pending -= 1;
      counts.failed += 1;
    });
    all.add(connection);
    return connection;
  };
  for (let i = 0; i < CONNECTIONS; i += 1) idle.push(open());
  const send = (dueMs, isMeasured) => {
    const connection = idle.pop() ?? open();
    counts.pending += 1;
    const onEnd = (statusCode) => {
      counts.pending -= 1;
      idle.push(connection);
      if (statusCode !== 200) counts.failed += 1;
      else if (isMeasured) counts.timesMs.push(nowMs() - dueMs);
    };
    connection.send(request, { onEnd });
  };
  const stop = () => {
    for (const connection of all) connection.destroy();
  };
  return { send, stop };
}
