/** Event streams: CPU of a chunk and its delay. */
import { streamCall } from './bodies.mjs';
import { AMPLE_LIMITS, KEPT } from './parties.mjs';
import { number, printTable } from './report.mjs';
import { median, medianExcess, medianRatio } from './statistics.mjs';
import { TARGETS } from './targets.mjs';
import { rounds, WINDOW_MS } from './windows.mjs';

const STREAMS = 150;
const STREAMS_FOR_DELAY = 15;
const [CHUNKS, INTERVAL_MS] = [100, 20];
const WARM_MS = 2_000;
const FIRST_WARM_MS = 6_000;
/**
 * Relative to the time of other suites. Within an hour 6, 12 and 20 windows of one build gave ratios of 1.12, 1.05 and
 * 0.99.
 */
const LONGER = 3;

const costUs = ({ chunks, cpuSeconds }) => (1e6 * cpuSeconds) / chunks;
const chunkP99 = ({ chunkDelay }) => chunkDelay.p99;

/** CPU per chunk on a dedicated core: without limits, kept, with limits in Redis; also compared with another build. */
export async function measureChunks(bench) {
  const redisUrl = await bench.redis();
  const parties = [
    await bench.startPassThrough(),
    await bench.startCallers([{ name: 'no limits' }, KEPT]),
    await bench.startCallers([{ name: 'limits in Redis', limits: AMPLE_LIMITS }], { redisUrl }),
  ];
  const other = { dist: bench.against };
  if (bench.against) parties.push(await bench.startCallers([{ name: 'no limits, other build' }], other));
  const [bare, ours] = await runStreams(bench, parties, STREAMS, LONGER * bench.seconds);
  const ratio = medianRatio(ours, bare, costUs);
  bench.verdicts.atMost('CPU of a chunk, times pass-through', ratio, TARGETS.chunkOfPassThrough);
}

/** Chunks per CPU second without users, and the delay of a chunk with few streams. */
export async function measureStream(bench) {
  const parties = [
    await bench.startPassThrough(),
    await bench.startCallers([{ name: 'this gateway', hasUsers: false }]),
  ];
  const [bare, ours] = await runStreams(bench, parties, STREAMS);
  const ratio = medianRatio(bare, ours, costUs);
  bench.verdicts.atLeast('stream chunks per CPU-s, of pass-through', ratio, TARGETS.streamOfPassThrough);
  const [bareDelay, oursDelay] = await runStreams(bench, parties, STREAMS_FOR_DELAY);
  const added = medianExcess(oursDelay, bareDelay, chunkP99);
  bench.verdicts.atMost('added time per chunk p99, ms', added, TARGETS.addedChunkP99Ms, 3);
}

/** @returns the windows of each party, in their order */
async function runStreams(bench, parties, streams, seconds) {
  const callers = parties.flatMap((party) => party.callers);
  const job = { body: streamCall(CHUNKS, INTERVAL_MS), streams, intervalMs: INTERVAL_MS };
  const run = ({ target }, warmMs, durationMs) => bench.load.run('runStreams', { ...job, target, warmMs, durationMs });
  for (const caller of callers) await run(caller, 0, FIRST_WARM_MS);
  const windows = await rounds(bench, callers, (caller) => run(caller, WARM_MS, WINDOW_MS), seconds);
  const [bare] = windows.values();
  const middle = (runs, figure, digits) => number(median(runs.map(figure)), digits);
  const rows = [...windows].map(([{ name }, runs]) => [
    name,
    middle(runs, costUs, 1),
    number(medianRatio(runs, bare, costUs), 3),
    middle(runs, ({ chunkDelay }) => chunkDelay.p50, 2),
    middle(runs, chunkP99, 2),
    number(medianExcess(runs, bare, chunkP99), 2),
    middle(runs, ({ firstByte }) => firstByte.p50, 2),
    middle(runs, ({ firstByte }) => firstByte.p99, 2),
    runs.reduce((sum, { failed }) => sum + failed, 0),
  ]);
  const delays = ['delay p50 ms', 'p99', 'added p99', 'first byte p50', 'p99'];
  printTable(`${streams} streams, a chunk every ${INTERVAL_MS} ms`, ['', 'us', 'ratio', ...delays, 'failed'], rows);
  return [...windows.values()];
}
