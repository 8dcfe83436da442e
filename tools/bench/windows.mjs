/** Measured windows: one party at a time, in turn, and with `--pinned` repeated if something else used its core. */
import { busySeconds } from './cores.mjs';
import { cpuSeconds } from './meter.mjs';

/** Larger shares of its core used by others spoil a window. */
const FOREIGN_SHARE = 0.03;
const MOST_TRIES = 4;
/**
 * The speed of a machine changes within seconds: many short windows in turn compare parties better than few long ones.
 */
export const WINDOW_MS = 2_000;

/**
 * Rounds of every caller in turn; every other round runs in reverse order.
 *
 * @param {import('./parties.mjs').Bench} bench
 * @param {(caller: object) => Promise<object>} work runs one window
 * @param seconds of each caller
 * @returns the windows of each caller
 */
export async function rounds(bench, callers, work, seconds = bench.seconds) {
  const windows = new Map(callers.map((caller) => [caller, []]));
  const count = Math.ceil((seconds * 1e3) / WINDOW_MS);
  const repeats = { left: bench.isPinned ? count * callers.length : 0 };
  for (let round = 0; round < count; round += 1) {
    for (const caller of round % 2 === 0 ? callers : callers.toReversed()) {
      windows.get(caller).push(await (bench.isPinned ? undisturbed(caller, work, repeats) : undivided(caller, work)));
    }
  }
  return windows;
}

/**
 * Measures a caller until nothing else used its core.
 *
 * @param repeats of all windows together: on a busy machine every window would be repeated, and the run would end by
 *   its time limit without a figure
 */
async function undisturbed(caller, work, repeats) {
  const { pid } = caller.party;
  for (let tries = 1; ; tries += 1) {
    const before = busySeconds() - cpuSeconds(pid);
    const startedMs = performance.now();
    const run = await undivided(caller, work);
    const elapsed = (performance.now() - startedMs) / 1e3;
    const foreignShare = Math.max(0, busySeconds() - cpuSeconds(pid) - before) / elapsed;
    if (foreignShare <= FOREIGN_SHARE || tries === MOST_TRIES || repeats.left === 0) return { ...run, foreignShare };
    repeats.left -= 1;
  }
}

/** A window with the `pauses` of its party. */
async function undivided(caller, work) {
  const startedMs = performance.now();
  const run = await work(caller);
  return { ...run, pauses: caller.party.pauses.filter(({ atMs }) => atMs >= startedMs) };
}

/** Pauses of several windows, milliseconds: of the young generation, or of full collections. */
export function pausesMs(windows, ofYoung) {
  const pauses = windows.flatMap((window) => window.pauses);
  return pauses.filter(({ kind }) => (kind === 'Scavenge') === ofYoung).map(({ ms }) => ms);
}
