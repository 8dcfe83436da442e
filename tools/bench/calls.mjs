/**
 * Calls of 1 KB in a closed loop: calls per CPU second, their latency at saturation, and pauses of the garbage
 * collector.
 */
import { jsonCall } from './bodies.mjs';
import { residentMib } from './meter.mjs';
import { AMPLE_LIMITS, KEPT } from './parties.mjs';
import { requireRecorded } from './recorded.mjs';
import { number, printTable } from './report.mjs';
import { median, medianRatio } from './statistics.mjs';
import { TARGETS } from './targets.mjs';
import { pausesMs, rounds, WINDOW_MS } from './windows.mjs';

const CONNECTIONS = 64;
const WARM_MS = 12_000;
const ROUND_WARM_MS = 500;
const FIRST_MS = 3_000;
const GAUGE_MS = 2_000;
const PASS_THROUGH = 'pass-through';
const NO_LIMITS = 'users, no limits';
const IN_MEMORY = 'limits in memory';
const IN_REDIS = 'limits in Redis';

const perCpuSecond = ({ completed, cpuSeconds }) => completed / cpuSeconds;
const p99 = ({ times }) => times.p99;

/** CPU of one call of a window, microseconds. */
export const costUs = (run) => 1e6 / perCpuSecond(run);

/** Without users: the cost of the gateway compared with a pass-through. */
export async function measureJson(bench) {
  const parties = [
    await bench.startPassThrough(),
    await bench.startCallers([{ name: 'this gateway', hasUsers: false }]),
  ];
  const windows = await runCalls(bench, parties);
  printCalls('1 KB calls', windows);
  const [bare, ours] = [...windows.values()];
  const ratio = medianRatio(ours, bare, perCpuSecond);
  bench.verdicts.atLeast('calls per CPU-s of pass-through', ratio, TARGETS.callsOfPassThrough);
}

/** The cost of limits, in memory and in Redis, and whether every call was counted and charged. */
export async function measureLimits(bench) {
  const parties = await startLimited(bench);
  const answered = new Map();
  const windows = await runCalls(bench, parties, answered);
  printCalls('1 KB calls under limits', windows);
  judgeLimits(windows, bench.verdicts);
  await requireRecorded(bench, answered);
}

/** The same with a dedicated core, from the first call on; also compared with another build. */
export async function measureCalls(bench) {
  const { verdicts } = bench;
  const parties = await startLimited(bench);
  if (bench.against) parties.push(...(await startGateways(bench, ', other build', bench.against)));
  const firstP99s = new Map();
  for (const { callers } of parties) firstP99s.set(callers[0].name, p99(await closedLoop(bench, callers[0], FIRST_MS)));
  const warm = ({ callers }) => closedLoop(bench, callers[0], WARM_MS);
  const costOf = async ({ callers }) => costUs(await closedLoop(bench, callers[0], GAUGE_MS, ROUND_WARM_MS));
  await warm(parties[0]);
  parties.push(await bench.startAtBound(parties[0], warm, costOf));
  const windows = await runCalls(bench, parties);
  const firstRatio = (name) => firstP99s.get(name) / firstP99s.get(PASS_THROUGH);
  printCalls('1 KB calls', windows, { 'first p99 x': ({ name }) => number(firstRatio(name), 2) });
  judgeLimits(windows, verdicts);
  const [bare, ours] = [PASS_THROUGH, NO_LIMITS].map((name) => windowsOf(windows, name));
  verdicts.atMost('p99 at saturation, times pass-through', medianRatio(ours, bare, p99), TARGETS.p99OfPassThrough);
  verdicts.atMost('p99 of the first 3 s, times pass-through', firstRatio(NO_LIMITS), TARGETS.firstP99OfPassThrough);
  const longestMs = Math.max(0, ...pausesMs(ours, true));
  verdicts.atMost('longest young-generation pause, ms', longestMs, TARGETS.scavengeMs, 1);
}

async function startLimited(bench) {
  return [await bench.startPassThrough(), ...(await startGateways(bench, ''))];
}

async function startGateways(bench, mark, dist) {
  const limited = { name: IN_MEMORY + mark, limits: AMPLE_LIMITS };
  const inMemory = [{ name: NO_LIMITS + mark }, limited, ...(dist === undefined ? [KEPT] : [])];
  const inRedis = [{ name: IN_REDIS + mark, limits: AMPLE_LIMITS }];
  const redisUrl = await bench.redis();
  return [await bench.startCallers(inMemory, { dist }), await bench.startCallers(inRedis, { dist, redisUrl })];
}

/**
 * Warms up every caller and measures all in turn.
 *
 * @param {Map<object, number>} [answered] receives the number of answered calls of each
 */
export async function runCalls(bench, parties, answered = new Map()) {
  const callers = parties.flatMap((party) => party.callers);
  for (const caller of callers) await closedLoop(bench, caller, WARM_MS);
  return rounds(bench, callers, async (caller) => {
    const run = await closedLoop(bench, caller, WINDOW_MS, ROUND_WARM_MS);
    answered.set(caller, (answered.get(caller) ?? 0) + run.answered);
    return run;
  });
}

function closedLoop({ load }, { target }, durationMs, warmMs = 0) {
  return load.run('closedLoop', { target, body: jsonCall(), connections: CONNECTIONS, warmMs, durationMs });
}

function windowsOf(windows, name) {
  return [...windows].find(([caller]) => caller.name === name)?.[1];
}

/** @param {Record<string, (caller: object, runs: object[]) => string>} more columns */
export function printCalls(title, windows, more = {}) {
  const bare = windowsOf(windows, PASS_THROUGH);
  const ratio = (runs, figure) => number(bare ? medianRatio(runs, bare, figure) : Number.NaN, 3);
  const middle = (runs, figure, digits = 0) => number(median(runs.map(figure)), digits);
  const young = (runs) => pausesMs(runs, true);
  const columns = {
    'calls/s': (_, runs) => middle(runs, ({ completed, seconds }) => completed / seconds),
    '/CPU-s': (_, runs) => middle(runs, perCpuSecond),
    us: (_, runs) => middle(runs, costUs, 1),
    ratio: (_, runs) => ratio(runs, perCpuSecond),
    'CPU %': (_, runs) => middle(runs, ({ cpuSeconds, seconds }) => (100 * cpuSeconds) / seconds),
    'machine idle %': (_, runs) => middle(runs, ({ idleShare }) => 100 * idleShare),
    'p50 ms': (_, runs) => middle(runs, ({ times }) => times.p50, 2),
    p99: (_, runs) => middle(runs, p99, 2),
    'p99 x': (_, runs) => ratio(runs, p99),
    ...more,
    'scavenge ms': (_, runs) => number(Math.max(0, ...young(runs)), 1),
    [`> ${TARGETS.scavengeMs} ms %`]: (_, runs) => number(longShare(young(runs)), 1),
    '/s': (_, runs) => number(young(runs).length / runs.reduce((sum, { seconds }) => sum + seconds, 0), 1),
    'full gc ms': (_, runs) => number(Math.max(0, ...pausesMs(runs, false)), 1),
    MiB: ({ party }) => number(residentMib(party.pid)),
    failed: (_, runs) => runs.reduce((sum, { failed }) => sum + failed, 0),
    'foreign %': (_, runs) => number(100 * Math.max(...runs.map(({ foreignShare }) => foreignShare)), 1),
  };
  const rows = [...windows].map(([caller, runs]) => [
    caller.name,
    ...Object.values(columns).map((cell) => cell(caller, runs)),
  ]);
  printTable(`${title}, closed loop, ${CONNECTIONS} connections`, ['', ...Object.keys(columns)], rows);
}

/** How many of these pauses are above the bound, in percent. A pause of the machine makes any of them longer. */
function longShare(ofMs) {
  return (100 * ofMs.filter((ms) => ms > TARGETS.scavengeMs).length) / Math.max(1, ofMs.length);
}

function judgeLimits(windows, verdicts) {
  const bare = windowsOf(windows, PASS_THROUGH);
  const bounds = [
    [NO_LIMITS, TARGETS.callsOfPassThrough],
    [IN_MEMORY, TARGETS.limitedOfPassThrough],
    [IN_REDIS, TARGETS.limitedByRedisOfPassThrough],
  ];
  for (const [name, bound] of bounds) {
    const ratio = medianRatio(windowsOf(windows, name), bare, perCpuSecond);
    verdicts.atLeast(`calls per CPU-s of pass-through, ${name}`, ratio, bound);
  }
}
