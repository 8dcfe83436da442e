/** Memory and latency over minutes: calls and streams at a fixed rate, with limits in Redis. */
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonCall, streamCall } from '../bodies.mjs';
import { AMPLE_LIMITS } from '../limits/limited-caller.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { number, printTable } from '../report.mjs';
import { cpuSeconds, residentBytes } from '../resources.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { forUser, startCallers, startGateway } from './parties.mjs';

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

export async function measureSoak({ dir, databases, upstream, redis, load, seconds, verdicts }) {
  const streaming = await LoadGenerator.start();
  const of = {
    dir: `${dir}/soak`,
    databaseUrl: await databases.create(),
    redisUrl: redis.url,
    settings: AS_IN_THE_IMAGE,
  };
  const gateway = await startCallers(await startGateway(of), upstream.port, [
    { name: 'limits in Redis', limits: AMPLE_LIMITS },
  ]);
  const targets = [forUser(gateway.callers[0], 'soak')];
  const times = { warmMs: WARM_MS, durationMs: seconds * LONGER * 1e3 };
  const residentMib = [];
  let isOver = false;
  const watched = (async () => {
    while (!isOver) {
      await sleep(LOOK_EVERY_MS);
      residentMib.push(residentBytes(gateway.pid) / 2 ** 20);
    }
  })();
  const startSeconds = cpuSeconds(gateway.pid);
  const [[calls], [streams]] = await Promise.all([
    load.run('openLoop', { targets, body: jsonCall(), ratePerTarget: CALLS_PER_SECOND, ...times }),
    streaming.run('runStreams', {
      ...{ targets, body: streamCall(CHUNKS, INTERVAL_MS), streamsPerTarget: STREAMS, intervalMs: INTERVAL_MS },
      ...times,
    }),
  ]);
  isOver = true;
  await watched;
  const usedSeconds = cpuSeconds(gateway.pid) - startSeconds;
  await gateway.stop();
  const third = Math.ceil(residentMib.length / 3);
  const [first, middle, last] = [0, 1, 2].map((at) => median(residentMib.slice(at * third, (at + 1) * third)));
  printTable(
    `${CALLS_PER_SECOND} calls and ${STREAMS} streams a second for ${seconds * LONGER} s, pinned`,
    ['MiB, first third', 'middle', 'last', 'largest', 'CPU %', 'p50 ms', 'p99 ms', 'chunk p99 ms', 'failed'],
    [
      [
        ...[first, middle, last, Math.max(...residentMib)].map((mib) => number(mib)),
        number((100 * usedSeconds) / (times.durationMs / 1e3)),
        ...[calls.p50, calls.p99, streams.chunkDelay.p99].map((ms) => number(ms, 2)),
        calls.failed + streams.failed,
      ],
    ],
  );
  verdicts.atMost('pinned: memory of the last third of a soak, MiB', last, TARGETS.soakMib, 0);
  verdicts.atMost('pinned: … of that of the middle third', last / middle, TARGETS.soakGrowth);
  verdicts.atMost('pinned: p99 of its calls, ms', calls.p99, TARGETS.soakP99Ms, 1);
}
