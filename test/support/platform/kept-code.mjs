import { constants, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { runInThisContext } from 'node:vm';

// A process that says whether a function is still optimized after it has been idle and V8 has collected all its
// objects.
const BUSY_COLLECTIONS = 10;
/** Until a collection that the filling began has ended and is counted. */
const SETTLED_MS = 2_000;
const MOST_FILLED = 40;
const MOST_MS = 30_000;
const OPTIMIZED = 1 << 4;

class Call {
  constructor(number) {
    this.number = number;
  }
}

function widen(call) {
  call.next = call.number + 1;
  return call.next;
}

async function widenMany() {
  for (let round = 0; round < 2_000; round++) {
    for (let number = 0; number < 10_000; number++) widen(new Call(number));
    if (round % 20 === 0) await turn();
  }
}

/** V8 retains classes in all of these collections. It makes another one after 8 idle seconds. */
async function fillOldGeneration() {
  let filled = [];
  const from = collections;
  while (collections - from < BUSY_COLLECTIONS) {
    if (filled.length === MOST_FILLED) filled = [];
    filled.push(Array.from({ length: 20_000 }, (_, number) => ({ number })));
    await turn();
  }
}

const statusOf = runInThisContext('(code) => %GetOptimizationStatus(code)');
const isOptimized = () => (statusOf(widen) & OPTIMIZED) !== 0;

let collections = 0;
new PerformanceObserver((list) => {
  const major = ({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
  collections += list.getEntries().filter(major).length;
}).observe({ entryTypes: ['gc'] });
await widenMany();
const before = isOptimized();
await fillOldGeneration();
await sleep(SETTLED_MS);
const busy = collections;
for (let ms = 0; ms < MOST_MS && collections === busy; ms += 50) await sleep(50);
process.stdout.write(JSON.stringify({ before, after: isOptimized(), wasCollected: collections > busy }));
