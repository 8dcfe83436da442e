/** Memory and latency over minutes: calls and streams at a fixed rate, with limits in Redis. */
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonCall, streamCall } from '../bodies.mjs';
import { AMPLE_LIMITS } from '../limits/limited-caller.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { number, printTable } from '../report.mjs';
import { cpuSeconds, residentBytes } from '../resources.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { forUser, startCallers, startGateway, startPassThrough } from './parties.mjs';

const CALLS_PER_SECOND = 1_200;
/** Each lasts a second and is followed by the next one. */
const STREAMS = 60;
const [CHUNKS, INTERVAL_MS] = [20, 50];
const WARM_MS = 5_000;
/** What the image sets, and a process cannot set for itself. */
const AS_IN_THE_IMAGE = { MALLOC_ARENA_MAX: '1' };
const LOOK_EVERY_MS = 5_000;
/** The default of 12 seconds becomes seven minutes. */
const LONGER = 35;
/** Of the time of the gateway. The pass-through shows what the machine allows under the same load. */
const PASS_THROUGH_SHARE = 0.2;

export async function measureSoak({ dir, databases, upstream, redis, load, seconds, verdicts }) {
  const streaming = await LoadGenerator.start();
  const soak = (party, durationMs) => soakOf(party, { load, streaming, durationMs });
  const durationMs = seconds * LONGER * 1e3;
  const passThrough = await soak(await startPassThrough(upstream.port), PASS_THROUGH_SHARE * durationMs);
  const of = {
    dir: `${dir}/soak`,
    databaseUrl: await databases.create(),
    redisUrl: redis.url,
    settings: AS_IN_THE_IMAGE,
  };
  const kinds = [{ name: 'limits in Redis', limits: AMPLE_LIMITS }];
  const gateway = await soak(await startCallers(await startGateway(of), upstream.port, kinds), durationMs);
  const columns = [
    '',
    'MiB, first third',
    'middle',
    'last',
    'largest',
    'CPU %',
    'p50 ms',
    'p99 ms',
    'chunk p99 ms',
    'failed',
  ];
  printTable(
    `${CALLS_PER_SECOND} calls and ${STREAMS} streams a second for ${seconds * LONGER} s, pinned`,
    columns,
    [passThrough, gateway].map(rowOf),
  );
  const [, middle, last] = gateway.thirdsMib;
  verdicts.atMost('pinned: memory of the last third of a soak, MiB', last, TARGETS.soakMib, 0);
  verdicts.atMost('pinned: … of that of the middle third', last / middle, TARGETS.soakGrowth);
  verdicts.atMost('pinned: p99 of its calls, ms', gateway.calls.p99, TARGETS.soakP99Ms, 1);
}

/** Loads a party for so long, and ends it. @returns its memory, its share of a core, and the times of its calls */
async function soakOf(party, { load, streaming, durationMs }) {
  const [caller] = party.callers;
  const targets = [forUser(caller, 'soak')];
  const times = { warmMs: WARM_MS, durationMs };
  const residentMib = [];
  let isOver = false;
  const watched = (async () => {
    while (!isOver) {
      await sleep(LOOK_EVERY_MS);
      residentMib.push(residentBytes(party.pid) / 2 ** 20);
    }
  })();
  const startSeconds = cpuSeconds(party.pid);
  const [[calls], [streams]] = await Promise.all([
    load.run('openLoop', { targets, body: jsonCall(), ratePerTarget: CALLS_PER_SECOND, ...times }),
    streaming.run('runStreams', {
      ...{ targets, body: streamCall(CHUNKS, INTERVAL_MS), streamsPerTarget: STREAMS, intervalMs: INTERVAL_MS },
      ...times,
    }),
  ]);
  isOver = true;
  await watched;
  const busyShare = (cpuSeconds(party.pid) - startSeconds) / (durationMs / 1e3);
  await party.stop();
  const third = Math.ceil(residentMib.length / 3);
  const thirdsMib = [0, 1, 2].map((at) => median(residentMib.slice(at * third, (at + 1) * third)));
  return { name: caller.name, thirdsMib, largestMib: Math.max(...residentMib), busyShare, calls, streams };
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
