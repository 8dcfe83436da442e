/**
 * What a second worker process brings. CPU is counted, over all processes of the gateway: on a machine whose cores also
 * carry load, provider and database, two workers cannot answer twice as many calls, whatever they would do elsewhere.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonCall } from '../bodies.mjs';
import { costUs } from '../call-costs.mjs';
import { addProvider, launchGateway } from '../gateway.mjs';
import { LoadGenerator } from '../load-generator.mjs';
import { startUpstream } from '../party.mjs';
import { startRedis } from '../redis.mjs';
import { number, printTable } from '../report.mjs';
import { descendants } from '../resources.mjs';
import { median } from '../statistics.mjs';
import { TARGETS } from '../targets.mjs';
import { warmUp } from '../warm-up.mjs';
import { AMPLE_LIMITS, addCaller } from './limited-caller.mjs';

const WORKERS = 2;
const CONNECTIONS = 64;
const WARM_MS = 1_000;
const START_PATIENCE_MS = 60_000;
const WORKER_ARGUMENT = '--gateway-worker';
const KINDS = [
  { what: 'no limits', limits: undefined },
  { what: 'limits', limits: AMPLE_LIMITS },
];

/** @param {{ dir: string, rounds: number, seconds: number, verdicts: object }} bench */
export async function measureWorkers({ dir, rounds, seconds, verdicts }) {
  const redis = await startRedis(dir);
  const load = await LoadGenerator.start();
  const upstream = await startUpstream();
  const one = await launchGateway(`${dir}/one`, { REDIS_URL: redis.url });
  const two = await launchGateway(`${dir}/two`, { REDIS_URL: redis.url, WORKERS: String(WORKERS) });
  two.workerPids = await workersOf(two.pid);
  for (const gateway of [one, two]) await addProvider(gateway, upstream.port);
  const pairs = [];
  for (const { what, limits } of KINDS) {
    pairs.push({
      what,
      one: await addCaller(one, `one process, ${what}`, limits),
      two: await addCaller(two, `${WORKERS} workers, ${what}`, limits),
    });
  }
  await warmUp({ load, parties: pairs.flatMap((pair) => [pair.one, pair.two]) });
  const call = { body: jsonCall(), connections: CONNECTIONS, warmMs: WARM_MS, durationMs: (seconds * 1e3) / rounds };
  const runs = new Map();
  for (let round = 0; round < rounds; round += 1) {
    for (const target of pairs.flatMap((pair) => [pair.one, pair.two])) {
      runs.set(target, [...(runs.get(target) ?? []), await load.run('closedLoop', { target, ...call })]);
    }
  }
  report(runs);
  for (const pair of pairs) validate(pair.what, runs.get(pair.one), runs.get(pair.two), verdicts);
  return [{ name: 'this gateway' }];
}

/** Waits for all of them. Throws where they cannot be told from the process that started them. */
async function workersOf(pid) {
  const deadline = performance.now() + START_PATIENCE_MS;
  for (;;) {
    const pids = descendants(pid).flatMap((one) => (isWorker(one.pid) ? [one.pid] : []));
    if (pids.length === WORKERS) return pids;
    if (performance.now() > deadline) throw new Error(`${pids.length} of ${WORKERS} workers were found`);
    await sleep(200);
  }
}

function isWorker(pid) {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0').includes(WORKER_ARGUMENT);
  } catch {
    return false;
  }
}

/** Idle cores say whether calls waited for something else than CPU. */
function report(runs) {
  const rows = [...runs].map(([{ name }, rounds]) => {
    const middle = (figure) => median(rounds.map(figure));
    return [
      name,
      number(middle(({ completed, seconds }) => completed / seconds)),
      number(middle(costUs), 1),
      number(100 * middle(({ cpuSeconds, seconds }) => cpuSeconds / seconds)),
      number(100 * middle(leastShare)),
      number(
        middle(({ cpuSecondsBelow, completed }) => (1e6 * cpuSecondsBelow) / completed),
        1,
      ),
      number(100 * middle(({ idleShare }) => idleShare)),
      rounds.reduce((sum, { failed }) => sum + failed, 0),
    ];
  });
  const columns = [
    '1 KB JSON calls',
    'calls/s',
    'CPU us',
    'CPU %',
    'idler %',
    'database us',
    'machine idle %',
    'failed',
  ];
  printTable(`Workers, closed loop, ${CONNECTIONS} connections, as many users`, columns, rows);
}

/** Of the CPU of all workers, the part of the one that did least. */
function leastShare({ workerCpuSeconds }) {
  const all = workerCpuSeconds.reduce((sum, cpu) => sum + cpu, 0);
  return workerCpuSeconds.length > 0 ? Math.min(...workerCpuSeconds) / all : Number.NaN;
}

/** What workers carry where each has a core, times what one process carries on one: as many, less what each call costs more. */
function validate(what, one, two, verdicts) {
  const times = median(two.map((run, round) => (WORKERS * costUs(one[round])) / costUs(run)));
  verdicts.atLeast(
    `calls of ${WORKERS} workers by their CPU, times one process, ${what}`,
    times,
    TARGETS.twoWorkersOfOne,
  );
}
