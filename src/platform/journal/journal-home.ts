import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readMark, withFileLock } from '../embedded-postgres/process-file.js';
import { isRunning, ownIdentity } from '../embedded-postgres/process-identity.js';
import { SYSTEM_FILES } from './journal-files.js';

/** Identifies the process that owns a directory. */
const OWNER_FILE = 'owner';
const LOCK_FILE = 'lock';
/** Syncs directory entries: after a power loss an entry that was not synced is missing, with all its content. */
const listed = promisify(SYSTEM_FILES.syncDirectory);
/** Longest wait for another process that takes over orphans. */
const LOCK_WAIT_MS = 10_000;

/** The journal directories of a starting process. */
export interface JournalHome {
  /** New, and exclusive to this process. */
  readonly directory: string;
  /** Directories of dead processes, which this process now owns and recovers. */
  readonly orphans: readonly string[];
}

/**
 * Creates a directory for this process and takes over the directories of dead processes. Exactly one process recovers
 * each, and none touches the journal of a running process.
 *
 * @param root holds one directory per process; created when absent.
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

/** Releases a directory: the next process that starts recovers its content. */
export function leaveJournal(directory: string): void {
  rmSync(join(directory, OWNER_FILE), { force: true });
}

/** Deletes a directory whose events are all stored. */
export function deleteJournal(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
}

/** Called under the lock, so a directory without an owner is orphaned and not being created. */
function isOrphaned(directory: string): boolean {
  const owner = readMark(join(directory, OWNER_FILE));
  return owner === undefined || !isRunning(owner);
}

/** Creates the file atomically, so that no reader sees an incomplete owner. */
function writeOwner(directory: string): void {
  const file = join(directory, OWNER_FILE);
  writeFileSync(`${file}.new`, JSON.stringify(ownIdentity()), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function directoriesIn(root: string): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(root, entry.name));
}

/** An earlier process may have left a directory of the same name. */
function freeDirectory(root: string, instanceId: string): string {
  for (let serial = 1; ; serial++) {
    const directory = join(root, serial === 1 ? instanceId : `${instanceId}-${serial}`);
    if (!existsSync(directory)) return directory;
  }
}
