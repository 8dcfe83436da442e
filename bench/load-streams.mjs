/** Paced event streams, restarted as they end: chunks per CPU second, delay of each chunk, time to the first byte. */
import { setTimeout as sleep } from 'node:timers/promises';
import { nowMs, StampReader } from './clock.mjs';
import { Connection, requestBytes } from './connection.mjs';
import { between, readMeter } from './load-closed.mjs';
import { summary } from './statistics.mjs';

/**
 * Opens `streamsPerTarget` streams on every target, spread over one interval so that chunks do not come in bursts.
 *
 * @returns per target: chunks, failed, seconds, cpuSeconds, cpuSecondsBelow, and the summaries (ms) `chunkDelay`
 *   (from written by the provider to read here) and `firstByte` (from request sent to the first body byte).
 */
export async function runStreams({ targets, body, streamsPerTarget, intervalMs, warmMs, durationMs }) {
  const groups = targets.map(() => ({ isMeasuring: false, chunks: 0, failed: 0, delaysMs: [], firstBytesMs: [] }));
  const streams = [];
  for (let i = 0; i < streamsPerTarget; i += 1) {
    for (const [index, target] of targets.entries()) {
      streams.push(new RepeatedStream(target.port, requestBytes(target, body), groups[index]));
    }
    await sleep(intervalMs / streamsPerTarget);
  }
  await sleep(warmMs);
  for (const group of groups) group.isMeasuring = true;
  const starts = targets.map(({ pid }) => readMeter(pid));
  await sleep(durationMs);
  const ends = targets.map(({ pid }) => readMeter(pid));
  for (const group of groups) group.isMeasuring = false;
  for (const stream of streams) stream.stop();
  return groups.map((group, index) => ({
    chunks: group.chunks,
    failed: group.failed,
    ...between(starts[index], ends[index]),
    chunkDelay: summary(group.delaysMs),
    firstByte: summary(group.firstBytesMs),
  }));
}

class RepeatedStream {
  #request;
  #group;
  #connection;
  #stopped = false;

  constructor(port, request, group) {
    this.#request = request;
    this.#group = group;
    this.#connection = new Connection(port, () => {
      if (!this.#stopped) group.failed += 1;
    });
    this.#next();
  }

  stop() {
    this.#stopped = true;
    this.#connection.destroy();
  }

  #next() {
    const group = this.#group;
    const sentMs = nowMs();
    let stamps = null;
    this.#connection.send(this.#request, {
      onBody: (bytes) => {
        const readMs = nowMs();
        if (stamps === null) {
          stamps = new StampReader();
          if (group.isMeasuring) group.firstBytesMs.push(readMs - sentMs);
        }
        stamps.read(bytes, (writtenMs) => {
          if (!group.isMeasuring) return;
          group.chunks += 1;
          group.delaysMs.push(readMs - writtenMs);
        });
      },
      onEnd: (statusCode) => {
        if (statusCode !== 200) group.failed += 1;
        if (!this.#stopped) this.#next();
      },
    });
  }
}
