import { createReadStream, existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { segmentNames } from '../../platform/journal/journal-lines.rules.js';
import { recoverJournal } from '../../platform/journal/journal-recovery.js';

/** A segment of the journal of one process. */
export interface CopiedSegment {
  /** The directory of the process. */
  readonly directory: string;
  readonly name: string;
}

/** Where segments wait until the rows of the copy are stored. */
const RESTORING = 'journal.restoring';
const PLAIN_NAME = /^[\w-]+$/;

/** The segments below the directory of journals, oldest first within a process. */
export function segmentsIn(root: string): CopiedSegment[] {
  return entriesOf(root).flatMap((directory) =>
    segmentNames(entriesOf(join(root, directory))).map((name) => ({ directory, name })),
  );
}

/** Nothing where the directory is absent: it may be deleted while it is listed, once its events are stored. */
function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(systemErrorCode(error) ?? '');
}

/**
 * The bytes that a segment has now; a service may append to it meanwhile.
 *
 * @returns nothing for a segment that was deleted: its events are stored.
 */
export async function* bytesOf(root: string, { directory, name }: CopiedSegment): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(join(root, directory, name));
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** The journals of a site that is being restored. They are in place, for the next start to recover, once it `keeps` them. */
export class RestoredJournals {
  private readonly root: string;
  private readonly restoring: string;

  constructor(dataDir: string) {
    this.root = join(dataDir, 'journal');
    this.restoring = join(dataDir, RESTORING);
    rmSync(this.restoring, { recursive: true, force: true });
  }

  /** Whether the site has journals already. */
  get isTaken(): boolean {
    return segmentsIn(this.root).length > 0;
  }

  /** Where a segment of the copy is to be written. @throws Error its name is not that of a segment. */
  fileOf({ directory, name }: CopiedSegment): string {
    if (!PLAIN_NAME.test(directory) || segmentNames([name]).length === 0) throw new Error('the file is damaged');
    mkdirSync(join(this.restoring, directory), { recursive: true, mode: 0o700 });
    return join(this.restoring, directory, name);
  }

  /** Adds what a journal has beyond the copy: segments only grow, so the longer one has all that the shorter one has. */
  async add(root: string): Promise<void> {
    for (const segment of segmentsIn(root)) {
      const from = join(root, segment.directory, segment.name);
      const to = this.fileOf(segment);
      if (!existsSync(to) || statSync(from).size > statSync(to).size) await copyFile(from, to);
    }
  }

  /**
   * What the next start stores of these journals.
   *
   * @param countStored how many of these events the database has.
   * @returns the numbers of events that the database lacks: ended calls, and those that were open.
   */
  async missing(
    countStored: (eventIds: readonly string[]) => Promise<number>,
  ): Promise<{ ended: number; open: number }> {
    const missing = { ended: 0, open: 0 };
    for (const directory of new Set(segmentsIn(this.restoring).map((segment) => segment.directory))) {
      await recoverJournal(join(this.restoring, directory), {
        store: async (events) => {
          for (const [kind, interrupted] of [
            ['ended', false],
            ['open', true],
          ] as const) {
            const ids = events.filter((event) => event.interrupted === interrupted).map(({ json }) => idOf(json));
            if (ids.length > 0) missing[kind] += ids.length - (await countStored(ids));
          }
        },
        keepDamaged: () => undefined,
        onTrouble: (error) => {
          throw error;
        },
        summary: { files: 0, events: 0, interrupted: 0, damagedLines: 0 },
      });
    }
    return missing;
  }

  /** Puts the journals in place. */
  keep(): void {
    if (!existsSync(this.restoring)) return;
    mkdirSync(this.root, { recursive: true, mode: 0o700 });
    for (const directory of readdirSync(this.restoring)) {
      renameSync(join(this.restoring, directory), join(this.root, basename(directory)));
    }
    this.discard();
  }

  discard(): void {
    rmSync(this.restoring, { recursive: true, force: true });
  }
}

function idOf(json: string): string {
  return (JSON.parse(json) as { readonly event_id: string }).event_id;
}
