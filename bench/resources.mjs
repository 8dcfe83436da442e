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

/** Every process below `pid`, with its start so that a reused id is recognised; empty where /proc is missing. */
export function descendants(pid) {
  if (!hasProc) return [];
  const childrenOf = new Map();
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const fields = statFieldsIfAlive(Number(entry));
    if (!fields) continue;
    const parent = Number(fields[1]);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), { pid: Number(entry), startTicks: fields[19] }]);
  }
  const found = [];
  const visit = (parent) => {
    for (const child of childrenOf.get(parent) ?? []) {
      found.push(child);
      visit(child.pid);
    }
  };
  visit(pid);
  return found;
}

/** Whether the very process that `descendants` saw still runs. */
export function isStillAlive({ pid, startTicks }) {
  return statFieldsIfAlive(pid)?.[19] === startTicks;
}

/** CPU seconds of `pid`'s descendants (its database, its workers): not part of the ratios, but not hidden either. */
export function descendantsCpuSeconds(pid) {
  let ticks = 0;
  for (const child of descendants(pid)) {
    const fields = statFieldsIfAlive(child.pid);
    if (fields) ticks += Number(fields[11]) + Number(fields[12]);
  }
  return hasProc ? ticks / ticksPerSecond : 0;
}

function statFieldsIfAlive(pid) {
  try {
    return statFields(pid);
  } catch {
    return undefined;
  }
}
