/** Paced event streams, restarted as they end: chunks, delay of each chunk, time to the first byte. */
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs, StampReader } from './clock.mjs';
import { Connection, requestBytes } from './connection.mjs';
import { between, readMeter } from './meter.mjs';
import { summary } from './statistics.mjs';

/**
 * Opens the streams, spread over one interval so that chunks do not come in bursts.
 *
 * @returns chunks, failed, what `between` tells, and the summaries (ms) `chunkDelay` (from written by the provider to read
 *   here) and `firstByte` (from request sent to the first body byte).
 */
export async function runStreams({ target, body, streams, intervalMs, warmMs, durationMs }) {
  const group = { isMeasuring: false, failed: 0, delaysMs: [], firstBytesMs: [] };
  const request = requestBytes(target, body);
  const stops = [];
  for (let i = 0; i < streams; i += 1) {
    stops.push(startStream(target.port, request, group));
    await sleep(intervalMs / streams);
  }
  await sleep(warmMs);
  group.isMeasuring = true;
  const start = readMeter(target);
  await sleep(durationMs);
  const end = readMeter(target);
  group.isMeasuring = false;
  for (const stop of stops) stop();
  const [chunkDelay, firstByte] = [summary(group.delaysMs), summary(group.firstBytesMs)];
  return { chunks: chunkDelay.count, failed: group.failed, ...between(start, end), chunkDelay, firstByte };
}

/** One connection with stream after stream. @returns what ends it */
function startStream(port, request, group) {
  const connection = new Connection(port, () => {
    group.failed += 1;
  });
  const next = () => {
    const sentMs = nowMs();
    let stamps = null;
    const onBody = (bytes) => {
      const readMs = nowMs();
      if (stamps === null && group.isMeasuring) group.firstBytesMs.push(readMs - sentMs);
      stamps ??= new StampReader();
      stamps.read(bytes, (writtenMs) => {
        if (group.isMeasuring) group.delaysMs.push(readMs - writtenMs);
      });
    };
    const onEnd = (statusCode) => {
      if (statusCode !== 200) group.failed += 1;
      next();
    };
    connection.send(request, { onBody, onEnd });
  };
  next();
  return () => connection.destroy();
}
