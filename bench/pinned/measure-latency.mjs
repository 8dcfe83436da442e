/** Latency that the gateway adds to calls at a moderate rate. */
import { jsonCall } from '../bodies.mjs';
import { number, printTable } from '../report.mjs';
import { cpuSeconds } from '../resources.mjs';
import { median, medianSummary } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { warmUp } from '../warm-up.mjs';
import { forUser, startAtBound, startCallers, startGateway, startPassThrough } from './parties.mjs';
import { rounds, WINDOW_MS } from './windows.mjs';

const CALLS_PER_SECOND = 500;
/** At saturation: at the measured rate it would take minutes until the engine has optimized the code. */
const WARM_MS = 12_000;
const ROUND_WARM_MS = 500;
const USER = 'latency';
const GAUGE_MS = 4_000;

export async function measureLatency({ dir, databases, provider, load, seconds, verdicts }) {
  const bare = await startPassThrough(provider.port);
  const started = await startGateway({ dir: `${dir}/latency`, databaseUrl: await databases.create() });
  const gateway = await startCallers(started, provider.port, [{ name: 'users, no limits' }]);
  const parties = [bare, gateway];
  const targets = parties.map(targetOf);
  const warm = (some) => warmUp({ load, parties: some, warmMs: WARM_MS });
  const run = async (target, durationMs) => {
    const times = { ratePerTarget: CALLS_PER_SECOND, warmMs: ROUND_WARM_MS, durationMs };
    const startSeconds = cpuSeconds(target.pid);
    const [outcome] = await load.run('openLoop', { targets: [target], body: jsonCall(), ...times });
    const calls = (CALLS_PER_SECOND * (ROUND_WARM_MS + durationMs)) / 1e3;
    return { ...outcome, callUs: (1e6 * (cpuSeconds(target.pid) - startSeconds)) / calls };
  };
  await warm(targets);
  const costUs = async (party) => (await run(targetOf(party), GAUGE_MS)).callUs;
  const atBound = await startAtBound(provider.port, bare, costUs, (party) => warm([targetOf(party)]));
  parties.push(atBound);
  targets.push(targetOf(atBound));
  const windows = await rounds(seconds, targets, (target) => run(target, WINDOW_MS));
  const runs = [...windows.values()];
  const added = runs.map((ofOne) => addedTo(runs[0], ofOne));
  const rows = runs
    .map(medianSummary)
    .map(({ p50, p99, max }, at) => [
      targets[at].name,
      ...[p50, p99, max, added[at].p50, added[at].p99].map((ms) => number(ms, 3)),
      number(median(runs[at].map(({ callUs }) => callUs))),
    ]);
  const columns = ['', 'p50', 'p99', 'max', 'added p50', 'added p99', 'CPU of a call, us'];
  printTable(`Latency at ${CALLS_PER_SECOND} calls/s, pinned, ms`, columns, rows);
  const [, ours] = added;
  verdicts.atMost('pinned: added p50, ms', ours.p50, TARGETS.pinnedAddedP50Ms, 3);
  verdicts.atMost('pinned: added p99, ms', ours.p99, TARGETS.pinnedAddedP99Ms, 3);
  for (const party of parties) await party.stop();
}

function targetOf({ callers: [caller] }) {
  return forUser(caller, USER);
}

/** What one party adds to the times of another one, in the median of the rounds. */
function addedTo(bare, ofOne) {
  return medianSummary(
    ofOne.map((run, round) => ({ p50: run.p50 - bare[round].p50, p99: run.p99 - bare[round].p99, max: 0 })),
  );
}
