/** CPU of a stream's chunk. */
import { streamCall } from '../bodies.mjs';
import { AMPLE_LIMITS } from '../limits/limited-caller.mjs';
import { number, printTable } from '../report.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { forUser, startCallers, startGateway, startPassThrough } from './parties.mjs';
import { medianRatio, rounds, WINDOW_MS, window } from './windows.mjs';

const STREAMS = 150;
const CHUNKS = 100;
const INTERVAL_MS = 20;
const WARM_MS = 2_000;
/** Of the time of other suites. Within an hour 6, 12 and 20 windows of one build gave ratios of 1.12, 1.05 and 0.99. */
const LONGER = 3;
const NO_LIMITS = 'no limits';

const costUs = ({ chunks, cpuSeconds: seconds }) => (1e6 * seconds) / chunks;

export async function measureChunks({ dir, databases, upstream, redis, load, seconds, verdicts }) {
  const memory = await startGateway({ dir: `${dir}/chunks`, databaseUrl: await databases.create() });
  const settings = { dir: `${dir}/chunks-redis`, databaseUrl: await databases.create(), redisUrl: redis.url };
  const parties = [
    await startPassThrough(upstream.port),
    await startCallers(memory, upstream.port, [{ name: NO_LIMITS }]),
    await startCallers(await startGateway(settings), upstream.port, [
      { name: 'limits in Redis', limits: AMPLE_LIMITS },
    ]),
  ];
  const callers = parties.flatMap((party) => party.callers.map((caller) => ({ ...caller, party })));
  const run = async ({ party, ...caller }, durationMs) => {
    const targets = [forUser(caller, 'streamer')];
    const [outcome] = await load.run('runStreams', {
      ...{ targets, body: streamCall(CHUNKS, INTERVAL_MS), streamsPerTarget: STREAMS },
      ...{ intervalMs: INTERVAL_MS, warmMs: WARM_MS, durationMs },
    });
    return outcome;
  };
  for (const caller of callers) await run(caller, 6_000);
  const windows = await rounds(LONGER * seconds, callers, (caller) =>
    window(caller.party, () => run(caller, WINDOW_MS)),
  );
  const bare = windows.get(callers[0]);
  const rows = [...windows].map(([{ name }, runs]) => [
    name,
    number(median(runs.map(costUs)), 1),
    number(medianRatio(runs, bare, costUs), 3),
    number(median(runs.map(({ chunkDelay }) => chunkDelay.p99)), 2),
    runs.reduce((sum, { failed }) => sum + failed, 0),
  ]);
  printTable(
    `${STREAMS} streams, a chunk every ${INTERVAL_MS} ms, pinned`,
    ['', 'us', 'ratio', 'delay p99', 'failed'],
    rows,
  );
  const [, ours] = [...windows].find(([{ name }]) => name === NO_LIMITS);
  verdicts.atMost('pinned: CPU of a chunk, times pass-through', medianRatio(ours, bare, costUs), TARGETS.pinnedChunk);
  for (const party of parties) await party.stop();
}
