/** Gives the gateway a core of its own, where the machine lets us. */
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { descendants } from '../resources.mjs';

const GATEWAY_CORE = '0';

/**
 * Pins the gateway to one core and what it works with, its database among them, to the others.
 *
 * @param {number[]} otherPids
 * @returns {boolean} false where there is no `taskset` or no second core
 */
export function giveOwnCore(gatewayPid, otherPids) {
  const last = os.cpus().length - 1;
  if (last < 1) return false;
  try {
    const database = descendants(gatewayPid).map(({ pid }) => pid);
    for (const pid of [...otherPids, ...database]) pin(pid, `1-${last}`);
    pin(gatewayPid, GATEWAY_CORE);
    return true;
  } catch {
    return false;
  }
}

/** All threads of a process, and those it starts from now on. */
function pin(pid, cores) {
  execFileSync('taskset', ['-acp', cores, String(pid)], { stdio: 'ignore' });
}
