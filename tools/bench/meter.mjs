/** What a process has used so far, read from outside it. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import { nowMs } from './clock.mjs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** User and system seconds of all threads of `pid`. */
export function cpuSeconds(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // Field n of proc(5) is index n - 3 here.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Resident memory of `pid`, MiB. */
export function residentMib(pid) {
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(found?.[1] ?? 0) / 1024;
}

/**
 * Every process below `pid`. A scan of all processes instead would stop the load generator for 10 ms at each reading.
 */
export function descendants(pid) {
  const threads = ifAlive(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  const lists = threads.map((thread) => ifAlive(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')));
  const children = lists.join(' ').split(' ').filter(Boolean).map(Number);
  return children.flatMap((child) => [child, ...descendants(child)]);
}

/** What `read` finds; undefined where the process or thread has ended meanwhile. */
export function ifAlive(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** CPU of the measured process, with that of workers below it, and the moment; subtract two of them. */
export function readMeter({ pid, workerPids = [] }) {
  const workers = workerPids.map(cpuSeconds);
  const idle = os.cpus().reduce((sum, { times }) => sum + times.idle, 0) / 1e3;
  return { atMs: nowMs(), cpu: workers.reduce((sum, cpu) => sum + cpu, cpuSeconds(pid)), workers, idle };
}

/**
 * What passed between two readings. `cpuSeconds` is never 0, so that ratios stay finite on a short window. `idleShare`
 * is of all cores of the machine.
 */
export function between(start, end) {
  const seconds = (end.atMs - start.atMs) / 1e3;
  return {
    seconds,
    cpuSeconds: Math.max(end.cpu - start.cpu, 0.001),
    workerCpuSeconds: end.workers.map((cpu, i) => cpu - start.workers[i]),
    idleShare: (end.idle - start.idle) / seconds / os.cpus().length,
  };
}
