/**
 * With `--pinned`: one core only for the measured process, the other for everything else; and what else used the first.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { descendants, ifAlive } from './meter.mjs';

const MEASURED_CORE = 0;
const TICKS_PER_SECOND = 100;
const LOOK_MS = 500;
const { PRIORITY_LOW } = os.constants.priority;

/** Moves this process, with everything it starts from now on, to the other cores. Throws if there is none. */
export function leaveMeasuredCore() {
  const last = os.cpus().length - 1;
  if (last < 1) throw new Error('--pinned needs a second core');
  execFileSync('taskset', ['-acp', `${MEASURED_CORE + 1}-${last}`, String(process.pid)], { stdio: 'ignore' });
}

/** A command that runs on the measured core. */
export function onMeasuredCore(command, args) {
  return ['taskset', ['-c', String(MEASURED_CORE), command, ...args]];
}

/**
 * Lets a process and its children run only while their core is otherwise idle, until this process ends. Where the
 * kernel groups tasks by session, only the niceness of the group counts, and each backend of Postgres has a session of
 * its own. Source: sched(7), autogroup.
 */
export function keepBehind(pid) {
  const behind = new Set();
  const look = () => {
    for (const each of [pid, ...descendants(pid)]) {
      if (!behind.has(each) && ifAlive(() => giveWay(each))) behind.add(each);
    }
  };
  look();
  setInterval(look, LOOK_MS).unref();
}

/** Throws if the process has ended, or the kernel requires a pause between two such changes. */
function giveWay(pid) {
  const group = `/proc/${pid}/autogroup`;
  os.setPriority(pid, PRIORITY_LOW);
  if (existsSync(group)) writeFileSync(group, String(PRIORITY_LOW));
  return true;
}

/** Seconds that the measured core was busy so far, including steal time of the hypervisor. */
export function busySeconds() {
  const line = readFileSync('/proc/stat', 'latin1')
    .split('\n')
    .find((text) => text.startsWith(`cpu${MEASURED_CORE} `));
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + interrupts + softInterrupts + stolen) / TICKS_PER_SECOND;
}
