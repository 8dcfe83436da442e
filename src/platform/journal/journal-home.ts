import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readMark, withFileLock } from '../database/process-file.js';
import { isRunning, ownMark } from '../database/process-mark.js';
import { SYSTEM_FILES } from './journal-files.js';

/** Names the process a directory belongs to. */
const OWNER_FILE = 'owner';
const LOCK_FILE = 'lock';
/** Forces to the disk which directories there are: one that is not listed is lost with power, and all that is in it. */
const listed = promisify(SYSTEM_FILES.syncDirectory);
/** Longest wait for another process that is looking for orphans at this moment. */
const LOCK_WAIT_MS = 10_000;

/** What a process has after it found its place among the journals of a data directory. */
export interface JournalHome {
  /** New, and this process's alone. */
  readonly directory: string;
  /** Directories of processes that died; now this process's to empty. */
  readonly orphans: readonly string[];
}

/**
 * Makes a directory for this process and takes over those whose process is gone, so that exactly one process recovers
 * each of them and none touches the journal of a living one.
 *
 * @param root holds one directory a process; made when absent.
 * @param instanceId letters, digits, `-` and `_`.
 * @throws Error when the directory cannot be written.
 */
export async function takeJournalHome(root: string, instanceId: string): Promise<JournalHome> {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  return withFileLock(join(root, LOCK_FILE), LOCK_WAIT_MS, async () => {
    const orphans = directoriesIn(root).filter(isOrphaned);
    const directory = freeDirectory(root, instanceId);
    mkdirSync(directory, { mode: 0o700 });
    for (const above of [root, dirname(root)]) await listed(above);
    for (const mine of [directory, ...orphans]) writeOwner(mine);
    return { directory, orphans };
  });
}

/** Gives a directory up: what is in it is recovered by the next process that starts. */
export function leaveJournal(directory: string): void {
  rmSync(join(directory, OWNER_FILE), { force: true });
}

/** Deletes a directory whose events are all stored. */
export function deleteJournal(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** Asked under the lock, so a directory without an owner is left over and not one that is being made. */
function isOrphaned(directory: string): boolean {
  const owner = readMark(join(directory, OWNER_FILE));
  return owner === undefined || !isRunning(owner);
}

/** Appears complete or not at all, so that a reader never takes a half-written owner for none. */
function writeOwner(directory: string): void {
  const file = join(directory, OWNER_FILE);
  writeFileSync(`${file}.new`, JSON.stringify(ownMark()), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function directoriesIn(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(root, entry.name));
}

/** The same name may be left over from an earlier process. */
function freeDirectory(root: string, instanceId: string): string {
  for (let serial = 1; ; serial++) {
    const directory = join(root, serial === 1 ? instanceId : `${instanceId}-${serial}`);
    if (!existsSync(directory)) return directory;
  }
}
