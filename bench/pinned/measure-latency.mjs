/** Latency that the gateway adds to calls at a moderate rate. */
import { jsonCall } from '../bodies.mjs';
import { number, printTable } from '../report.mjs';
import { medianSummary } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { warmUp } from '../warm-up.mjs';
import { forUser, startCallers, startGateway, startPassThrough } from './parties.mjs';
import { rounds, WINDOW_MS } from './windows.mjs';

const CALLS_PER_SECOND = 500;
/** At saturation: at the measured rate it would take minutes until the engine has optimized the code. */
const WARM_MS = 12_000;
const ROUND_WARM_MS = 500;
const USER = 'latency';

export async function measureLatency({ dir, databases, upstream, load, seconds, verdicts }) {
  const bare = await startPassThrough(upstream.port);
  const started = await startGateway({ dir: `${dir}/latency`, databaseUrl: await databases.create() });
  const gateway = await startCallers(started, upstream.port, [{ name: 'users, no limits' }]);
  const targets = [...bare.callers, ...gateway.callers].map((caller) => forUser(caller, USER));
  await warmUp({ load, parties: targets, warmMs: WARM_MS });
  const times = { ratePerTarget: CALLS_PER_SECOND, warmMs: ROUND_WARM_MS, durationMs: WINDOW_MS };
  const windows = await rounds(seconds, targets, async (target) => {
    const [run] = await load.run('openLoop', { targets: [target], body: jsonCall(), ...times });
    return run;
  });
  const runs = [...windows.values()];
  const [passed, ours] = runs.map(medianSummary);
  const rows = [passed, ours].map(({ p50, p99, max }, at) => [
    targets[at].name,
    ...[p50, p99, max].map((ms) => number(ms, 3)),
  ]);
  printTable(`Latency at ${CALLS_PER_SECOND} calls/s, pinned, ms`, ['', 'p50', 'p99', 'max'], rows);
  const added = medianSummary(
    runs[1].map((run, round) => ({ p50: run.p50 - runs[0][round].p50, p99: run.p99 - runs[0][round].p99, max: 0 })),
  );
  verdicts.atMost('pinned: added p50, ms', added.p50, TARGETS.pinnedAddedP50Ms, 3);
  verdicts.atMost('pinned: added p99, ms', added.p99, TARGETS.pinnedAddedP99Ms, 3);
  for (const party of [bare, gateway]) await party.stop();
}
