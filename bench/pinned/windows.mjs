/** Measured windows: one party at a time, in turn, and again where somebody else used its core. */
import { cpuSeconds } from '../resources.mjs';
import { median } from '../statistics.mjs';
import { busySeconds } from './cores.mjs';

/** Larger shares of its core used by others spoil a window. */
const FOREIGN_SHARE = 0.03;
const MOST_TRIES = 4;
/** The speed of a machine changes within seconds: many short windows in turn compare parties better than few long ones. */
export const WINDOW_MS = 2_000;

/**
 * Runs a job on one caller until its core was its own.
 *
 * @param {() => Promise<object>} work answers with what `between` tells, at least `seconds` and `cpuSeconds`
 * @returns the window with `foreignShare`, the share of the core's time that others used, and the longest `pauses`
 */
export async function window(party, work) {
  for (let tries = 1; ; tries += 1) {
    const before = busySeconds();
    const startedMs = performance.now();
    const own = cpuSeconds(party.pid);
    const run = await work();
    const elapsed = (performance.now() - startedMs) / 1e3;
    const foreignShare = Math.max(0, busySeconds() - before - (cpuSeconds(party.pid) - own)) / elapsed;
    const pauses = party.pauses.filter(({ atMs }) => atMs >= startedMs);
    if (foreignShare <= FOREIGN_SHARE || tries === MOST_TRIES) return { ...run, foreignShare, tries, pauses };
  }
}

/**
 * Rounds of every caller in turn; every other round begins at the other end.
 *
 * @param seconds of each caller, in windows of `windowMs`
 */
export async function rounds(seconds, callers, measure, windowMs = WINDOW_MS) {
  const windows = new Map(callers.map((caller) => [caller, []]));
  const count = Math.ceil((seconds * 1e3) / windowMs);
  for (let round = 0; round < count; round += 1) {
    for (const caller of round % 2 === 0 ? callers : callers.toReversed())
      windows.get(caller).push(await measure(caller));
  }
  return windows;
}

/** The median over rounds of one figure of two callers, the first by the second. */
export function medianRatio(ones, others, figure) {
  return median(ones.map((one, round) => figure(one) / figure(others[round])));
}

/** Young-generation pauses of several windows, milliseconds. */
export function scavengesMs(windows) {
  return windows.flatMap(({ pauses }) => pauses.filter(({ kind }) => kind === 'Scavenge').map(({ ms }) => ms));
}

/** The longest of them; 0 where there was none. */
export function longestScavengeMs(windows) {
  return Math.max(0, ...scavengesMs(windows));
}
