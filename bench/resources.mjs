/** What a process has used so far, read from outside it: /proc on Linux, `ps` elsewhere. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const hasProc = process.platform === 'linux';
const ticksPerSecond = hasProc ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : 0;

/** Fields of /proc/<pid>/stat after the command name; index 0 is the state, so field n of proc(5) is index n - 3. */
function statFields(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function ps(pid, column) {
  return execFileSync('ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8' }).trim();
}

/** `[[dd-]hh:]mm:ss[.cc]`, as ps prints processor time, in seconds. */
function secondsOfPs(text) {
  const [clock, days = '0'] = text.split('-').reverse();
  return clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400;
}

/** User and system seconds of all threads of `pid`. */
export function cpuSeconds(pid) {
  if (!hasProc) return secondsOfPs(ps(pid, 'time'));
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Resident memory of `pid`, bytes. */
export function residentBytes(pid) {
  if (!hasProc) return Number(ps(pid, 'rss')) * 1024;
  const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'));
  return Number(found?.[1] ?? 0) * 1024;
}

/**
 * Every process below `pid`, with its start so that a reused id is recognised; empty where Linux does not list children.
 * A scan of all processes instead would stop the load generator for 10 ms at each reading of the meter.
 */
export function descendants(pid) {
  return childrenOf(pid).flatMap((child) => {
    const fields = ifAlive(() => statFields(child));
    return fields ? [{ pid: child, startTicks: fields[19] }, ...descendants(child)] : [];
  });
}

function childrenOf(pid) {
  const threads = ifAlive(() => readdirSync(`/proc/${pid}/task`)) ?? [];
  const lists = threads.map((thread) => ifAlive(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')));
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}

/** Whether the very process that `descendants` saw still runs. */
export function isStillAlive({ pid, startTicks }) {
  return ifAlive(() => statFields(pid))?.[19] === startTicks;
}

/** CPU seconds of `pid`'s descendants (its database, its workers): not part of the ratios, but not hidden either. */
export function descendantsCpuSeconds(pid) {
  let ticks = 0;
  for (const child of descendants(pid)) {
    const fields = ifAlive(() => statFields(child.pid));
    if (fields) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return hasProc ? ticks / ticksPerSecond : 0;
}

/** What `read` finds; undefined where the process or thread has ended meanwhile. */
function ifAlive(read) {
  try {
    return read();
  } catch {
    return undefined;
  }
}
