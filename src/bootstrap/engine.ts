import { executionAsyncResource } from 'node:async_hooks';
import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { growthFlags, isIdle } from './heap-growth.rules.js';

/** V8 shrinks an idle young generation; until it may grow again, a load that returns collects it at each megabyte. */
const CHECK_MS = 100;
/** Consecutive idle checks after which what the start left behind is collected. */
const QUIET_CHECKS = 10;
/** Linux lists the threads of this process here. */
const THREADS = '/proc/self/task';
const HELPER_NAME = 'V8Worker';
/** Above the niceness of the process: a third of its share. With less, code under full load stays unoptimized too long. */
const HELPER_NICENESS = 5;
/** The same once code is optimized: a tenth of its share, because from then on helpers mostly collect. */
const WARM_HELPER_NICENESS = 10;
/** Checks under load after which code is optimized. */
const WARM_CHECKS = 100;

/** One task of `process.nextTick`; see {@link keepTaskLayout}. */
const keptTasks: object[] = [];

/** Sets the engine up for calls once everything is loaded. Source: ADR 0063. */
export function tuneEngine(): void {
  keepTaskLayout();
  setFlagsFromString('--no-allocation-site-pretenuring');
  // Optimized code keeps the hidden classes that it refers to, and so itself, while the process is idle.
  setFlagsFromString('--no-memory-reducer-favors-memory');
  // Helper threads destroy finished compilations late, and the allocator keeps the memory of all.
  setFlagsFromString('--no-maglev-destroy-on-background');
  followLoad();
  lowerHelpers(HELPER_NICENESS);
}

/**
 * Keeps a task of `process.nextTick` reachable, and so the hidden class of all. A full collection that finds no task, as
 * in an idle process, drops the class; V8 then creates every later task by calls of its runtime, in seven times the time.
 * Source: ADR 0063.
 */
function keepTaskLayout(): void {
  process.nextTick(() => keptTasks.push(executionAsyncResource()));
}

/**
 * Lets the heap grow as the load needs. Compacts it once, in the first quiet second, and lowers the helper threads again
 * once, after the first seconds under load.
 */
function followLoad(): void {
  let flags = '';
  let load = performance.eventLoopUtilization();
  let quietChecks = 0;
  let busyChecks = 0;
  const check = () => {
    const before = load;
    load = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(load, before);
    const heap = { youngBytes: youngBytes(), utilization };
    if (quietChecks < QUIET_CHECKS) {
      quietChecks = isIdle(heap) ? quietChecks + 1 : 0;
      if (quietChecks === QUIET_CHECKS) compactHeap();
    }
    if (busyChecks < WARM_CHECKS && !isIdle(heap)) {
      busyChecks++;
      if (busyChecks === WARM_CHECKS) lowerHelpers(WARM_HELPER_NICENESS);
    }
    const wanted = growthFlags(heap);
    if (wanted === flags) return;
    flags = wanted;
    setFlagsFromString(flags);
  };
  check();
  setInterval(check, CHECK_MS).unref();
}

/** Capacity of the young generation, in bytes; infinite, and so never to grow, where V8 does not tell it. */
function youngBytes(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return young === undefined ? Number.POSITIVE_INFINITY : young.space_used_size + young.space_available_size;
}

/**
 * Collects everything and closes the gaps, but keeps compiled functions. V8 itself leaves the gaps of a start: it
 * compacts an idle process only after a full collection that freed much. Source: ADR 0063.
 */
export function compactHeap(): void {
  setFlagsFromString('--expose-gc --no-flush-bytecode');
  const collect: unknown = runInNewContext('globalThis.gc');
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--no-expose-gc --flush-bytecode');
}

/**
 * Lowers the priority of the engine's helper threads, on Linux. A full garbage collection takes them 100 ms; where all
 * threads share a core, as in a container with one CPU, they take most of it, and calls wait.
 */
function lowerHelpers(niceness: number): void {
  if (process.platform !== 'linux') return;
  try {
    const lowered = Math.min(getPriority() + niceness, constants.priority.PRIORITY_LOW);
    for (const thread of readdirSync(THREADS)) {
      if (readFileSync(`${THREADS}/${thread}/comm`, 'utf8').trim() === HELPER_NAME) {
        setPriority(Number(thread), lowered);
      }
    }
  } catch {
    // A sandbox may hide its threads or forbid this: priorities stay as they are, and some calls take longer.
  }
}
