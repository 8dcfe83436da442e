/** Closed loop: every connection sends its next call when the last one is answered. For CPU efficiency, not latency. */
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs } from './clock.mjs';
import { Connection, requestBytes } from './connection.mjs';
import { between, readMeter } from './meter.mjs';
import { summary } from './statistics.mjs';

const RECONNECT_MS = 10;

/**
 * Runs the loop and meters the target between warm-up and end. Where the target names users, each connection has its
 * own.
 *
 * @returns `completed` and `failed` calls, the `times` of answers (ms), what `between` tells, and `answered`: all of them,
 *   warm-up included
 */
export async function closedLoop({ target, body, connections, warmMs, durationMs }) {
  const counts = { completed: 0, failed: 0, timesMs: [] };
  const requestOf = (at) => requestBytes(target, body, `user-${at}`);
  const stops = Array.from({ length: connections }, (_, at) => startLoop(target.port, requestOf(at), counts));
  await sleep(warmMs);
  const before = { ...counts };
  counts.timesMs.length = 0;
  const start = readMeter(target);
  await sleep(durationMs);
  const end = readMeter(target);
  const measured = { completed: counts.completed - before.completed, failed: counts.failed - before.failed };
  for (const stop of stops) stop();
  return { ...measured, answered: counts.completed, times: summary(counts.timesMs), ...between(start, end) };
}

/** One connection. @returns what ends it */
function startLoop(port, request, counts) {
  let isStopped = false;
  let connection;
  const next = () => {
    const sentMs = nowMs();
    const onEnd = (statusCode) => {
      counts.timesMs.push(nowMs() - sentMs);
      counts[statusCode === 200 ? 'completed' : 'failed'] += 1;
      if (!isStopped) next();
    };
    connection.send(request, { onEnd });
  };
  const connect = () => {
    if (isStopped) return;
    connection = new Connection(port, () => {
      counts.failed += 1;
      setTimeout(connect, RECONNECT_MS);
    });
    next();
  };
  connect();
  return () => {
    isStopped = true;
    connection.destroy();
  };
}
