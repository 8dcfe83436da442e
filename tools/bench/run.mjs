/**
 * The benchmark: `npm run bench -- [--pinned] [--only=json,calls,…] [--seconds=N] [--quick] [--against=<another
 * dist>]`.
 *
 * Every party runs as a separate process on the loopback; the measure is the CPU time of the measured process, because
 * a ratio of CPU times is valid on a busy machine and a wall-clock rate is not. With `--pinned` the measured process
 * has a dedicated core, so that a ratio counts its own work and not that of waking other processes. Missed targets are
 * printed, not fatal; the exit code is 1 when a suite could not be measured. Nothing is written to the repository.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { measureCalls, measureJson, measureLimits } from './calls.mjs';
import { measureLatency } from './latency.mjs';
import { Bench } from './parties.mjs';
import { stopChildren } from './processes.mjs';
import { Verdicts } from './report.mjs';
import { measureSoak } from './soak.mjs';
import { measureStart } from './start.mjs';
import { measureStoring } from './storing.mjs';
import { measureChunks, measureStream } from './streams.mjs';
import { measureWorkers } from './workers.mjs';

const SUITES = { json: measureJson, stream: measureStream, limits: measureLimits, workers: measureWorkers };
const PINNED_SUITES = {
  start: measureStart,
  calls: measureCalls,
  latency: measureLatency,
  chunks: measureChunks,
  storing: measureStoring,
  soak: measureSoak,
};
const [QUICK_SECONDS, SECONDS] = [4, 12];
const LONGEST_RUN_MS = 30 * 60_000;

function readOptions() {
  if (process.platform !== 'linux') throw new Error('the bench reads /proc, which only Linux has');
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      pinned: { type: 'boolean', default: false },
      against: { type: 'string' },
      only: { type: 'string' },
      seconds: { type: 'string' },
    },
  });
  const suites = values.pinned ? PINNED_SUITES : SUITES;
  const wanted = values.only?.split(',') ?? Object.keys(suites);
  const unknown = wanted.filter((suite) => !(suite in suites));
  if (unknown.length > 0) throw new Error(`--only knows ${Object.keys(suites).join(', ')}, not ${unknown.join(', ')}`);
  const seconds = Number(values.seconds ?? (values.quick ? QUICK_SECONDS : SECONDS));
  if (!(seconds >= 1 && seconds <= 120)) throw new Error('--seconds takes 1 to 120');
  const against = values.against && path.resolve(values.against);
  const chosen = Object.entries(suites).filter(([suite]) => wanted.includes(suite));
  return { chosen, isPinned: values.pinned, seconds, against };
}

/** Failed measurements are reported; the verdicts on the rest are still printed. @returns the exit code */
async function measureAll({ chosen, ...options }) {
  console.log(`node ${process.version}, ${os.cpus().length} x ${os.cpus()[0]?.model}`);
  const verdicts = new Verdicts();
  bench = await Bench.start({ ...options, dir, verdicts });
  let exitCode = 0;
  for (const [suite, measure] of chosen) {
    if (isFinishing) break;
    try {
      await measure(bench);
    } catch (error) {
      // Its processes were stopped with the run.
      if (isFinishing) break;
      console.log(`skipped: ${suite}: ${error.message}`);
      exitCode = 1;
    }
    await bench.stopParties();
  }
  verdicts.print();
  return exitCode;
}

let bench;
const dir = mkdtempSync(path.join(os.tmpdir(), 'gateway-bench-'));
// The database may run as another user, who needs access to its directory below this one.
chmodSync(dir, 0o711);

let isFinishing = false;

async function finish(exitCode) {
  if (isFinishing) return;
  isFinishing = true;
  await stopChildren();
  await bench?.stop();
  rmSync(dir, { recursive: true, force: true });
  process.exit(exitCode);
}

// Ctrl-C under npm arrives twice: from the terminal and from npm.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => finish(130));
setTimeout(() => {
  console.error('the bench took too long and was stopped');
  return finish(2);
}, LONGEST_RUN_MS).unref();

try {
  await finish(await measureAll(readOptions()));
} catch (error) {
  console.error(error.message);
  await finish(1);
}
