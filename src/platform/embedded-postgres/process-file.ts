import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { isRunning, ownIdentity, type ProcessIdentity } from './process-identity.js';

const POLL_MS = 50;

/** Makes the file names of this process unique. */
let lastSerial = 0;

/**
 * Runs `work` under a lock file that excludes other processes of this machine. The lock of a dead process is taken
 * over. Not re-entrant.
 *
 * @param waitMs longest wait for a running holder, in milliseconds.
 * @throws Error with the file and the holder when the wait ends.
 */
export async function withFileLock<T>(file: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  await takeLock(file, waitMs);
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Registers this process as a user of a shared resource.
 *
 * @param directory holds one file per user; created when absent.
 * @returns `leave()` removes the registration and reports whether another running process is registered.
 */
export function registerUser(directory: string): { leave(): { othersRemain: boolean } } {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const own = join(directory, ownName());
  writeFileSync(own, JSON.stringify(ownIdentity()), { mode: 0o600 });
  return {
    leave: () => {
      rmSync(own, { force: true });
      return { othersRemain: readdirSync(directory).some((name) => isInUse(join(directory, name))) };
    },
  };
}

async function takeLock(file: string, waitMs: number): Promise<void> {
  const own = `${file}.${ownName()}`;
  writeFileSync(own, JSON.stringify(ownIdentity()), { mode: 0o600 });
  try {
    for (let waitedMs = 0; !linked(own, file); waitedMs += POLL_MS) {
      const holder = readMark(file);
      if (holder !== undefined && !isRunning(holder)) removeDeadLock(file, holder, `${own}.dead`);
      else if (waitedMs >= waitMs) {
        throw new Error(
          `${file} is held by process ${holder?.pid ?? '(unknown)'}; delete it if that is not a gateway.`,
        );
      } else await sleep(POLL_MS);
    }
  } finally {
    rmSync(own, { force: true });
  }
}

/** A hard link appears with complete content and fails when the name exists, so creating it acquires the lock. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Moves a dead holder's lock aside before deleting it. Another process may have replaced it with a valid lock between
 * the read and the move; that lock is moved back.
 */
function removeDeadLock(file: string, dead: ProcessIdentity, aside: string): void {
  try {
    renameSync(file, aside);
  } catch {
    return;
  }
  const moved = readMark(aside);
  if (moved !== undefined && (moved.pid !== dead.pid || moved.started !== dead.started)) linked(aside, file);
  rmSync(aside, { force: true });
}

/** True when a running process owns the file; removes the file of a dead one. */
function isInUse(file: string): boolean {
  const mark = readMark(file);
  if (mark !== undefined && isRunning(mark)) return true;
  rmSync(file, { force: true });
  return false;
}

/** The mark of the process that owns a file; `undefined` when there is none that can be read. */
export function readMark(file: string): ProcessIdentity | undefined {
  try {
    const mark: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof mark !== 'object' || mark === null || !('pid' in mark) || !('started' in mark)) return undefined;
    return typeof mark.pid === 'number' && typeof mark.started === 'string'
      ? { pid: mark.pid, started: mark.started }
      : undefined;
  } catch {
    return undefined;
  }
}

function ownName(): string {
  return `${process.pid}-${++lastSerial}`;
}
