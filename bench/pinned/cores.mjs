/** One core for the measured process alone, the other for everything else; and who else used the first. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import os from 'node:os';

/** The core of the measured process. */
export const MEASURED_CORE = 0;
const TICKS_PER_SECOND = 100;

/** Puts this process, with all that it starts from now on, on the other cores. Throws where there is none. */
export function leaveMeasuredCore() {
  const last = os.cpus().length - 1;
  if (last < 1) throw new Error('--pinned needs a second core');
  pin(process.pid, `${MEASURED_CORE + 1}-${last}`);
}

/** A command that runs on the measured core. */
export function onMeasuredCore(command, args) {
  return ['taskset', ['-c', String(MEASURED_CORE), command, ...args]];
}

function pin(pid, cores) {
  execFileSync('taskset', ['-acp', cores, String(pid)], { stdio: 'ignore' });
}

/** Seconds that the measured core was not idle so far, with what the hypervisor took from it. */
export function busySeconds() {
  const line = readFileSync('/proc/stat', 'latin1')
    .split('\n')
    .find((text) => text.startsWith(`cpu${MEASURED_CORE} `));
  const [user, nice, system, , , interrupts, softInterrupts, stolen] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + interrupts + softInterrupts + stolen) / TICKS_PER_SECOND;
}
