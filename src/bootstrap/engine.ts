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
/** Above the niceness of the process: a third of its share. With less, code under full load stays unoptimized too long. */
const HELPER_NICENESS = 5;

/** Sets the engine up for calls once everything is loaded. Source: ADR 0063, ADR 0065. */
export function tuneEngine(): void {
  prepareYoungGeneration();
  lowerHelpers();
}

/**
 * Sets up the young generation for calls, of which nothing survives a few milliseconds: no object is allocated in the old
 * generation, where it would keep alive what it references; and the young one grows under load to
 * {@link LARGEST_BYTES}. V8 itself stops at 64 MiB, twice of which stay resident. It shrinks when the process is idle,
 * hence the interval. Source: ADR 0063.
 */
function prepareYoungGeneration(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
  let factor: number | undefined;
  const adjust = () => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    const wanted = (young?.space_size ?? 0) < LARGEST_BYTES ? 2 : 1;
    if (wanted === factor) return;
    factor = wanted;
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
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
