/** Memory and latency over minutes: calls and streams at a fixed rate, with limits in Redis. */
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonCall, streamCall } from './bodies.mjs';
import { startWorker } from './jobs.mjs';
import { cpuSeconds, residentMib } from './meter.mjs';
import { AMPLE_LIMITS } from './parties.mjs';
import { number, printTable } from './report.mjs';
import { median } from './statistics.mjs';
import { TARGETS } from './targets.mjs';

const CALLS_PER_SECOND = 1_200;
/** Each lasts a second and is followed by the next. */
const STREAMS = 60;
const [CHUNKS, INTERVAL_MS] = [20, 50];
const WARM_MS = 5_000;
/** Set by the image; a process cannot set it for itself. */
const AS_IN_THE_IMAGE = { MALLOC_ARENA_MAX: '1' };
const LOOK_EVERY_MS = 5_000;
/** The default of 12 seconds becomes seven minutes. */
const LONGER = 35;
/** Relative to the time of the gateway. The pass-through shows what the machine allows under the same load. */
const PASS_THROUGH_SHARE = 0.2;

export async function measureSoak(bench) {
  const { verdicts } = bench;
  const seconds = bench.seconds * LONGER;
  const streaming = await startWorker('load.mjs');
  const soak = (party, share) => soakOf(party, { ...bench, streaming, durationMs: share * seconds * 1e3 });
  const passThrough = await soak(await bench.startPassThrough(), PASS_THROUGH_SHARE);
  const settings = { redisUrl: await bench.redis(), settings: AS_IN_THE_IMAGE };
  const kinds = [{ name: 'limits in Redis', limits: AMPLE_LIMITS }];
  const gateway = await soak(await bench.startCallers(kinds, settings), 1);
  const rows = [passThrough, gateway];
  if (bench.against) {
    const other = await bench.startCallers([{ ...kinds[0], name: 'other build' }], {
      ...settings,
      dist: bench.against,
    });
    rows.push(await soak(other, 1));
  }
  const memory = ['MiB, first third', 'middle', 'last', 'largest'];
  const columns = ['', ...memory, 'CPU %', 'p50 ms', 'p99 ms', 'chunk p99 ms', 'failed'];
  const title = `${CALLS_PER_SECOND} calls and ${STREAMS} streams a second for ${seconds} s`;
  printTable(title, columns, rows.map(rowOf));
  const [, middle, last] = gateway.thirdsMib;
  verdicts.atMost('memory of the last third of a soak, MiB', last, TARGETS.soakMib, 0);
  verdicts.atMost('… of that of the middle third', last / middle, TARGETS.soakGrowth);
  verdicts.atMost('p99 of its calls, ms', gateway.calls.p99, TARGETS.soakP99Ms, 1);
}

/**
 * Loads a party for the given time, and ends it. @returns its memory, its share of a core, and the times of its calls
 */
async function soakOf(party, { load, streaming, durationMs }) {
  const [{ name, target }] = party.callers;
  const job = { target, warmMs: WARM_MS, durationMs };
  const streamJob = { ...job, body: streamCall(CHUNKS, INTERVAL_MS), streams: STREAMS, intervalMs: INTERVAL_MS };
  const startSeconds = cpuSeconds(party.pid);
  const watched = watchMemory(party.pid);
  const [calls, streams] = await Promise.all([
    load.run('openLoop', { ...job, body: jsonCall(), callsPerSecond: CALLS_PER_SECOND }),
    streaming.run('runStreams', streamJob),
  ]);
  const memory = await watched.stop();
  const busyShare = (cpuSeconds(party.pid) - startSeconds) / (durationMs / 1e3);
  await party.stop();
  return { name, ...memory, busyShare, calls, streams };
}

function watchMemory(pid) {
  const seenMib = [];
  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      await sleep(LOOK_EVERY_MS);
      seenMib.push(residentMib(pid));
    }
  })();
  return {
    stop: async () => {
      isOver = true;
      await looking;
      const third = Math.ceil(seenMib.length / 3);
      const thirdsMib = [0, 1, 2].map((at) => median(seenMib.slice(at * third, (at + 1) * third)));
      return { thirdsMib, largestMib: Math.max(...seenMib) };
    },
  };
}

function rowOf({ name, thirdsMib, largestMib, busyShare, calls, streams }) {
  return [
    name,
    ...[...thirdsMib, largestMib].map((mib) => number(mib)),
    number(100 * busyShare),
    ...[calls.p50, calls.p99, streams.chunkDelay.p99].map((ms) => number(ms, 2)),
    calls.failed + streams.failed,
  ];
}
