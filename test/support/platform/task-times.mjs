import { setImmediate as turn } from 'node:timers/promises';
import { collectStart, keepTaskLayout } from '../../../dist/src/bootstrap/engine.js';

// A process that says what a task of `process.nextTick` takes, in nanoseconds, before and after a full collection.
// Needs `--expose-gc`.
const TASKS = 1_000;
const RUNS = 200;
const WARM_RUNS = 1_000;
const nothing = () => {};

async function run() {
  const startedNs = process.hrtime.bigint();
  for (let task = 0; task < TASKS; task++) process.nextTick(nothing);
  const took = Number(process.hrtime.bigint() - startedNs) / TASKS;
  await turn();
  return took;
}

async function fastestOf(runs) {
  let fastest = Number.POSITIVE_INFINITY;
  for (let at = 0; at < runs; at++) fastest = Math.min(fastest, await run());
  return fastest;
}

if (process.argv[2] === 'kept') keepTaskLayout();
await fastestOf(WARM_RUNS);
const before = await fastestOf(RUNS);
collectStart();
const after = await fastestOf(WARM_RUNS + RUNS);
process.stdout.write(JSON.stringify({ before, after }));
