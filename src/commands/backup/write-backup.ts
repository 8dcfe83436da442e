import { createWriteStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { constants, createGzip } from 'node:zlib';
import type { Secret } from '../../common/log/secret.js';
import { VERSION } from '../../common/version.js';
import { CopiedTables } from '../../platform/database/copied-tables.js';
import { frame } from './backup-frames.js';
import { bytesOf, segmentsIn } from './journal-copy.js';

/** The format of backup files; a change of it is another number. */
export const BACKUP_FORMAT = 1;

/** The first frame of a backup file. */
export interface BackupHeader {
  readonly format: number;
  /** Version of the program that made the copy. */
  readonly version: string;
  /** Every call that ended before this moment is in the copy. ISO 8601, by the clock of the database. */
  readonly taken_at: string;
}

/** A written or restored backup. */
export interface BackupSummary {
  readonly bytes: number;
  readonly takenAt: string;
}

/**
 * Copies a database and the journals of a data directory to a file, also while services run. The journals come first:
 * an event is in the journal until it is in the database, so it is in one of the two copies at least.
 *
 * @param file replaced only by a complete copy; readable by its owner alone.
 * @param onTable called with the name of each table before it is copied.
 * @throws the error of Postgres or of the file system; then there is no new file.
 */
export async function writeBackup(
  file: string,
  {
    url,
    dataDir,
    onTable,
  }: { readonly url: Secret; readonly dataDir: string; readonly onTable: (name: string) => void },
): Promise<BackupSummary> {
  const draft = `${file}.partial`;
  const tables = await CopiedTables.connect(url);
  try {
    await rm(draft, { force: true });
    const takenAt = await tables.now();
    const header: BackupHeader = { format: BACKUP_FORMAT, version: VERSION, taken_at: takenAt };
    const frames = framesOf(tables, { header, journals: join(dataDir, 'journal'), onTable });
    await pipeline(
      ...[Readable.from(frames), createGzip({ level: constants.Z_BEST_SPEED })],
      createWriteStream(draft, { flags: 'wx', mode: 0o600 }),
    );
    await sync(draft);
    await rename(draft, file);
    return { bytes: (await stat(file)).size, takenAt };
  } finally {
    await tables.close();
    await rm(draft, { force: true });
  }
}

async function* framesOf(
  tables: CopiedTables,
  parts: { readonly header: BackupHeader; readonly journals: string; readonly onTable: (name: string) => void },
): AsyncGenerator<Buffer> {
  yield frame('header', parts.header);
  for (const segment of segmentsIn(parts.journals)) {
    yield frame('journal', segment);
    for await (const bytes of bytesOf(parts.journals, segment)) yield frame('data', bytes);
  }
  await tables.beginSnapshot();
  yield frame('schema', await tables.schema());
  for (const table of await tables.tables()) {
    parts.onTable(table.name);
    yield frame('table', table);
    for await (const rows of tables.rowsOf(table)) yield frame('data', rows);
  }
  yield frame('end', {});
}

async function sync(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
