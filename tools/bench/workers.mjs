/**
 * The gain of a second worker process, in CPU over all processes of the gateway: on a machine whose cores also run
 * load, provider and database, two workers cannot serve twice as many calls.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { costUs, printCalls, runCalls } from './calls.mjs';
import { descendants, ifAlive } from './meter.mjs';
import { AMPLE_LIMITS } from './parties.mjs';
import { number } from './report.mjs';
import { median } from './statistics.mjs';
import { TARGETS } from './targets.mjs';

const WORKERS = 2;
const START_PATIENCE_MS = 60_000;
const WORKER_ARGUMENT = '--gateway-worker';
const KINDS = [{ name: 'no limits' }, { name: 'limits', limits: AMPLE_LIMITS }];

export async function measureWorkers(bench) {
  const redisUrl = await bench.redis();
  const kindsOf = (who) => KINDS.map(({ name, limits }) => ({ name: `${who}, ${name}`, limits }));
  const one = await bench.startCallers(kindsOf('one process'), { redisUrl });
  const settings = { WORKERS: String(WORKERS) };
  const two = await bench.startCallers(kindsOf(`${WORKERS} workers`), { redisUrl, settings });
  const workerPids = await workersOf(two.pid);
  for (const { target } of two.callers) target.workerPids = workerPids;
  const windows = await runCalls(bench, [one, two]);
  printCalls('Workers', windows, { 'idler %': (_, runs) => number(100 * median(runs.map(leastShare))) });
  for (const [at, { name }] of KINDS.entries()) {
    const single = windows.get(one.callers[at]);
    // What workers serve if each has a core: as many calls, less the additional cost of each.
    const runs = windows.get(two.callers[at]);
    const times = median(runs.map((run, round) => (WORKERS * costUs(single[round])) / costUs(run)));
    const promise = `calls of ${WORKERS} workers by their CPU, times one process, ${name}`;
    bench.verdicts.atLeast(promise, times, TARGETS.twoWorkersOfOne);
  }
}

/**
 * Waits for all of them. Throws if they cannot be distinguished from the process that started them, as on other
 * systems.
 */
async function workersOf(pid) {
  const deadline = performance.now() + START_PATIENCE_MS;
  for (;;) {
    const pids = descendants(pid).filter((one) => ifAlive(() => argumentsOf(one).includes(WORKER_ARGUMENT)));
    if (pids.length === WORKERS) return pids;
    if (performance.now() > deadline) throw new Error(`${pids.length} of ${WORKERS} workers were found`);
    await sleep(200);
  }
}

const argumentsOf = (pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');

/** The share of the least busy worker in the CPU of all workers. */
function leastShare({ workerCpuSeconds }) {
  const all = workerCpuSeconds.reduce((sum, cpu) => sum + cpu, 0);
  return workerCpuSeconds.length > 0 ? Math.min(...workerCpuSeconds) / all : Number.NaN;
}
