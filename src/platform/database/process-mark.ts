import { readFileSync } from 'node:fs';
import { errorCode } from '../../common/errors/error-code.js';
import { parseProcessStat } from './process-mark.rules.js';

/** One particular process; unlike a bare process id it does not fit a later process that got the same id. */
export interface ProcessMark {
  readonly pid: number;
  /** Boot of the machine and start of the process; empty where the system does not tell (not Linux). */
  readonly started: string;
}

/** The mark of this process. */
export function ownMark(): ProcessMark {
  return { pid: process.pid, started: startOf(process.pid) ?? '' };
}

/** True while the marked process runs. Where the start is unknown, any process with that id counts. */
export function isRunning(mark: ProcessMark): boolean {
  if (!idExists(mark.pid)) return false;
  return process.platform !== 'linux' || startOf(mark.pid) === mark.started;
}

function idExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Refused for lack of rights: somebody else's process, but there.
    return errorCode(error) === 'EPERM';
  }
}

function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return '';
  try {
    const stat = parseProcessStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    if (stat === undefined || stat.ended) return undefined;
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${stat.startTicks}`;
  } catch {
    return undefined;
  }
}
