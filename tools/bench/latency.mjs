/** Latency that the gateway adds to calls at a moderate rate. */
import { jsonCall } from './bodies.mjs';
import { cpuSeconds } from './meter.mjs';
import { number, printTable } from './report.mjs';
import { median, medianExcess } from './statistics.mjs';
import { TARGETS } from './targets.mjs';
import { rounds, WINDOW_MS } from './windows.mjs';

const CALLS_PER_SECOND = 500;
/** At saturation: at the measured rate it would take minutes until the engine has optimized the code. */
const WARM = { body: jsonCall(), connections: 64, warmMs: 12_000, durationMs: 100 };
const ROUND_WARM_MS = 500;
const GAUGE_MS = 4_000;

const [p50, p99, max] = ['p50', 'p99', 'max'].map((name) => (run) => run[name]);

export async function measureLatency(bench) {
  const bare = await bench.startPassThrough();
  const parties = [bare, await bench.startCallers([{ name: 'users, no limits' }])];
  const warm = ({ callers: [{ target }] }) => bench.load.run('closedLoop', { target, ...WARM });
  for (const party of parties) await warm(party);
  const run = async ({ target }, durationMs) => {
    const job = { target, body: jsonCall(), callsPerSecond: CALLS_PER_SECOND, warmMs: ROUND_WARM_MS, durationMs };
    const startSeconds = cpuSeconds(target.pid);
    const outcome = await bench.load.run('openLoop', job);
    const calls = (CALLS_PER_SECOND * (ROUND_WARM_MS + durationMs)) / 1e3;
    return { ...outcome, callUs: (1e6 * (cpuSeconds(target.pid) - startSeconds)) / calls };
  };
  const costUs = async ({ callers }) => (await run(callers[0], GAUGE_MS)).callUs;
  parties.push(await bench.startAtBound(bare, warm, costUs));
  const callers = parties.flatMap((party) => party.callers);
  const windows = await rounds(bench, callers, (caller) => run(caller, WINDOW_MS));
  const [ofBare, ours] = [...windows.values()];
  const rows = [...windows].map(([{ name }, runs]) => [
    name,
    ...[p50, p99, max].map((figure) => number(median(runs.map(figure)), 3)),
    ...[p50, p99].map((figure) => number(medianExcess(runs, ofBare, figure), 3)),
    number(median(runs.map(({ callUs }) => callUs))),
    runs.reduce((sum, { failed }) => sum + failed, 0),
  ]);
  const columns = ['', 'p50', 'p99', 'max', 'added p50', 'added p99', 'CPU of a call, us', 'failed'];
  printTable(`Latency at ${CALLS_PER_SECOND} calls/s, ms`, columns, rows);
  bench.verdicts.atMost('added p50, ms', medianExcess(ours, ofBare, p50), TARGETS.addedP50Ms, 3);
  bench.verdicts.atMost('added p99, ms', medianExcess(ours, ofBare, p99), TARGETS.addedP99Ms, 3);
}
