import { readFileSync } from 'node:fs';
import { systemErrorCode } from '../../common/errors/system-error-code.js';

/** Identifies one process; unlike a process id, the mark does not match a later process with the same id. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Boot id and process start; empty where the system does not report it (not Linux). */
  readonly started: string;
}

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, started: startOf(process.pid) ?? '' };
}

/** True while the marked process runs. Without a known start, any process with that id matches. */
export function isRunning(mark: ProcessIdentity): boolean {
  if (!idExists(mark.pid)) return false;
  return process.platform !== 'linux' || startOf(mark.pid) === mark.started;
}

function idExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // No permission: the process exists and belongs to another user.
    return systemErrorCode(error) === 'EPERM';
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

/** The used fields of `/proc/<pid>/stat`. */
export interface ProcessStat {
  /** Clock ticks between boot and process start. */
  readonly startTicks: string;
  /** True for a zombie: ended, not yet reaped by its parent. */
  readonly ended: boolean;
}

/** Index of the start time among the fields after the name (field 22 of the line, counted from 1). */
const START_TICKS = 19;

/**
 * Parses `/proc/<pid>/stat`. The second field, the name, may contain spaces and parentheses.
 *
 * @returns `undefined` for any other text.
 */
export function parseProcessStat(line: string): ProcessStat | undefined {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state, startTicks] = [fields[0], fields[START_TICKS]];
  if (state === undefined || startTicks === undefined || !/^\d+$/.test(startTicks)) return undefined;
  return { startTicks, ended: state === 'Z' || state === 'X' };
}
