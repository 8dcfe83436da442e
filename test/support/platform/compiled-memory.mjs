import { setImmediate as turn } from 'node:timers/promises';
import { getHeapStatistics } from 'node:v8';
import { runInThisContext } from 'node:vm';

// A process that says how much memory of the allocator V8 held at most while it compiled many functions at once, in
// bytes.
const FUNCTIONS = 400;
const STATEMENTS = 40;
/** V8 optimizes a function after 400 calls. */
const ROUNDS = 2_000;

/** Distinct texts, since functions of one text share their compilation. */
function functionOf(number) {
  const statements = Array.from({ length: STATEMENTS }, (_, at) => `sum += call.size * ${number + at};`).join(' ');
  return runInThisContext(`((call) => { let sum = 0; ${statements} return sum; })`);
}

const functions = Array.from({ length: FUNCTIONS }, (_, number) => functionOf(number));
for (let round = 0; round < ROUNDS; round++) {
  for (const run of functions) run({ size: round });
  await turn();
}
process.stdout.write(JSON.stringify(getHeapStatistics().peak_malloced_memory));
