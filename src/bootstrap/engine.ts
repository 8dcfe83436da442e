import { readdirSync, readFileSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** Size at which the young generation stops growing, in bytes: what a saturated core allocates in about 30 ms. */
const LARGEST_BYTES = 32 * 1024 * 1024;
/** V8 shrinks an idle young generation; until it may grow again, a load that returns collects it at each megabyte. */
const CHECK_MS = 100;
/** Linux lists the threads of this process here. */
const THREADS = '/proc/self/task';
const HELPER_NAME = 'V8Worker';
/**
 * How far the old generation grows between two full collections at a moderate load. After an idle phase V8 lets it grow by
 * 30 %, which is a full collection every four seconds, and each delays calls by 10 ms and more.
 */
const MODERATE_GROWTH_PERCENT = 60;
/** Utilization of the event loop from which V8 decides: it then lets the old generation grow further. */
const SATURATED = 0.7;
/** Above the niceness of the process: a third of its share. With less, code under full load stays unoptimized too long. */
const HELPER_NICENESS = 5;

/** Sets the engine up for calls once everything is loaded. Source: ADR 0063, ADR 0065. */
export function tuneEngine(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  keepGrowing();
  lowerHelpers();
}

/**
 * Sets the growth of both generations by the load. Of calls nothing survives a few milliseconds: the young generation
 * grows under load to {@link LARGEST_BYTES}. V8 itself stops at 64 MiB, twice of which stay resident. It shrinks when the
 * process is idle, hence the interval. Source: ADR 0063.
 */
function keepGrowing(): void {
  let flags = '';
  let load = performance.eventLoopUtilization();
  const adjust = () => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    const factor = (young?.space_size ?? 0) < LARGEST_BYTES ? 2 : 1;
    const before = load;
    load = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(load, before);
    const percent = utilization < SATURATED ? MODERATE_GROWTH_PERCENT : 0;
    const wanted = `--semi-space-growth-factor=${factor} --heap-growing-percent=${percent}`;
    if (wanted === flags) return;
    flags = wanted;
    setFlagsFromString(flags);
  };
  adjust();
  setInterval(adjust, CHECK_MS).unref();
}

/**
 * Lowers the priority of the engine's helper threads, on Linux. A full garbage collection takes them 100 ms; where all
 * threads share a core, as in a container with one CPU, they take most of it, and calls wait.
 */
function lowerHelpers(): void {
  if (process.platform !== 'linux') return;
  try {
    const niceness = Math.min(getPriority() + HELPER_NICENESS, constants.priority.PRIORITY_LOW);
    for (const thread of readdirSync(THREADS)) {
      if (readFileSync(`${THREADS}/${thread}/comm`, 'utf8').trim() === HELPER_NAME) {
        setPriority(Number(thread), niceness);
      }
    }
  } catch {
    // A sandbox may hide its threads or forbid this: priorities stay as they are, and some calls take longer.
  }
}
