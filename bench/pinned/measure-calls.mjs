/** Calls per second of a core, their latency at saturation, and the pauses of the garbage collector. */
import { jsonCall } from '../bodies.mjs';
import { AMPLE_LIMITS } from '../limits/limited-caller.mjs';
import { number, printTable } from '../report.mjs';
import { residentBytes } from '../resources.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { startAtBound, startCallers, startGateway, startPassThrough } from './parties.mjs';
import { longestScavengeMs, medianRatio, rounds, scavengesMs, WINDOW_MS, window } from './windows.mjs';

const CONNECTIONS = 64;
const WARM_MS = 12_000;
const FIRST_MS = 3_000;
const ROUND_WARM_MS = 500;
const NO_LIMITS = 'users, no limits';
const IN_MEMORY = 'limits in memory';
const IN_REDIS = 'limits in Redis';
const GAUGE_MS = 2_000;

const perCore = ({ completed, cpuSeconds: seconds }) => completed / seconds;
const p99 = ({ times }) => times.p99;

export async function measureCalls(bench) {
  const { load, seconds, verdicts } = bench;
  const parties = await startParties(bench);
  const callersOf = (party) => party.callers.map((caller) => ({ ...caller, party }));
  const callers = parties.flatMap(callersOf);
  const loop = ({ party, ...target }, warmMs, durationMs) =>
    load.run('closedLoop', { target, body: jsonCall(), connections: CONNECTIONS, warmMs, durationMs });
  const first = new Map();
  for (const party of parties) {
    const [caller] = callers.filter((one) => one.party === party);
    first.set(party, await loop(caller, 0, FIRST_MS));
  }
  for (const caller of callers) await loop(caller, WARM_MS, 100);
  const [bare] = parties;
  const costUs = async (party) => 1e6 / perCore(await loop(callersOf(party)[0], ROUND_WARM_MS, GAUGE_MS));
  const warm = (party) => loop(callersOf(party)[0], WARM_MS, 100);
  const atBound = await startAtBound(bench.provider.port, bare, costUs, warm);
  parties.push(atBound);
  callers.push(...callersOf(atBound));
  const measure = (caller) => window(caller.party, () => loop(caller, ROUND_WARM_MS, WINDOW_MS));
  const windows = await rounds(seconds, callers, measure);
  report(windows, first);
  judge(windows, first, verdicts);
  for (const party of parties) await party.stop();
}

async function startParties({ dir, databases, provider, redis, against }) {
  const builds = [{ mark: '' }, ...(against ? [{ mark: ', other build', dist: against }] : [])];
  const parties = [await startPassThrough(provider.port)];
  for (const { mark, dist } of builds) {
    const [memory, byRedis] = [`${dir}/memory${mark}`, `${dir}/redis${mark}`];
    const inMemory = await startGateway({ dir: memory, databaseUrl: await databases.create(), dist });
    const kinds = [{ name: NO_LIMITS + mark }, { name: IN_MEMORY + mark, limits: AMPLE_LIMITS }];
    parties.push(await startCallers(inMemory, provider.port, kinds));
    const settings = { dir: byRedis, databaseUrl: await databases.create(), redisUrl: redis.url, dist };
    const inRedis = await startGateway(settings);
    parties.push(await startCallers(inRedis, provider.port, [{ name: IN_REDIS + mark, limits: AMPLE_LIMITS }]));
  }
  return parties;
}

function windowsOf(windows, name) {
  return [...windows].find(([caller]) => caller.name === name);
}

function report(windows, first) {
  const [, bare] = windowsOf(windows, 'pass-through');
  const rows = [...windows].map(([{ name, party }, runs]) => {
    const middle = (figure) => median(runs.map(figure));
    const bareFirst = first.get([...first.keys()][0]);
    return [
      name,
      number(middle(perCore)),
      number(1e6 / middle(perCore), 1),
      number(medianRatio(runs, bare, perCore), 3),
      number(100 * middle(({ cpuSeconds: cpu, seconds }) => cpu / seconds)),
      number(100 * middle(({ idleShare }) => idleShare)),
      number(
        middle(({ times }) => times.p50),
        2,
      ),
      number(middle(p99), 2),
      number(medianRatio(runs, bare, p99), 2),
      first.has(party) ? number(first.get(party).times.p99 / bareFirst.times.p99, 2) : '-',
      number(longestScavengeMs(runs), 1),
      number(longShare(scavengesMs(runs)), 1),
      number(scavengesMs(runs).length / runs.reduce((sum, { seconds }) => sum + seconds, 0), 1),
      number(
        Math.max(
          0,
          ...runs
            .flatMap(({ pauses }) => pauses)
            .filter(({ kind }) => kind !== 'Scavenge')
            .map(({ ms }) => ms),
        ),
        1,
      ),
      number(residentBytes(party.pid) / 2 ** 20),
      runs.reduce((sum, { failed }) => sum + failed, 0),
      number(100 * Math.max(...runs.map(({ foreignShare }) => foreignShare)), 1),
    ];
  });
  const columns = [
    'calls',
    '/core-s',
    'us',
    'ratio',
    'CPU %',
    'machine idle %',
    'p50',
    'p99',
    'p99 x',
    'first p99 x',
    'scavenge ms',
    `> ${TARGETS.scavengeMs} ms %`,
    '/s',
    'full gc ms',
    'MiB',
    'failed',
    'foreign %',
  ];
  printTable(`1 KB calls, ${CONNECTIONS} connections, pinned`, columns, rows);
}

/** How many of these pauses are above the bound, in percent. A pause of the machine makes any of them longer. */
function longShare(pausesMs) {
  return (100 * pausesMs.filter((ms) => ms > TARGETS.scavengeMs).length) / Math.max(1, pausesMs.length);
}

function judge(windows, first, verdicts) {
  const [bareCaller, bare] = windowsOf(windows, 'pass-through');
  const ratio = (name, figure) => medianRatio(windowsOf(windows, name)[1], bare, figure);
  const [caller, runs] = windowsOf(windows, NO_LIMITS);
  verdicts.atLeast('pinned: calls per core-s of pass-through, users', ratio(NO_LIMITS, perCore), TARGETS.pinnedUsers);
  verdicts.atLeast('pinned: … limits in memory', ratio(IN_MEMORY, perCore), TARGETS.pinnedMemory);
  verdicts.atLeast('pinned: … limits in Redis', ratio(IN_REDIS, perCore), TARGETS.pinnedRedis);
  verdicts.atMost('pinned: p99 at saturation, times pass-through', ratio(NO_LIMITS, p99), TARGETS.pinnedP99);
  const started = first.get(caller.party).times.p99 / first.get(bareCaller.party).times.p99;
  verdicts.atMost('pinned: p99 of the first 3 s, times pass-through', started, TARGETS.pinnedFirstP99);
  verdicts.atMost('pinned: longest young-generation pause, ms', longestScavengeMs(runs), TARGETS.scavengeMs, 1);
}
