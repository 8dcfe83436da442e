import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { pipeline as pipeWith, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { Clock } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import { type CopiedSchema, type CopiedTable, CopiedTables } from '../../platform/database/copied-tables.js';
import { runMigrations } from '../../platform/database/migrate.js';
import { MIGRATIONS } from '../../platform/database/migration-list.js';
import { FrameReader } from './backup-frames.js';
import { type CopiedSegment, RestoredJournals } from './journal-copy.js';
import { BACKUP_FORMAT, type BackupHeader, type BackupSummary } from './write-backup.js';

/** A restored backup, and what the next start adds to it. */
export interface RestoredBackup extends BackupSummary {
  /** Calls in the journals that the database of the copy lacks: those that ended, and those that were open. */
  readonly missing: { readonly ended: number; readonly open: number };
}

export interface RestoreOptions {
  readonly url: Secret;
  readonly dataDir: string;
  readonly clock: Clock;
  /** The directory of an old site's journals, which may have calls beyond the copy. */
  readonly journal: string | undefined;
  /** Called with the name of each table before it is filled. */
  readonly onTable: (name: string) => void;
}

/**
 * Restores a backup into a database without accounts and a data directory without journals. A failed restore can be
 * repeated.
 *
 * @throws Error the place is not empty, the file is no backup, is damaged or was made by a newer version; the error of
 * Postgres or of the file system.
 */
export async function readBackup(file: string, options: RestoreOptions): Promise<RestoredBackup> {
  const { size: bytes } = await stat(file);
  const chunks = createGunzip();
  // Its errors reach the reader, when it reads on: an error may come while nobody reads.
  chunks.on('error', () => undefined);
  pipeWith(createReadStream(file), chunks, () => undefined);
  const reader = new FrameReader(chunks);
  const tables = await CopiedTables.connect(options.url);
  const journals = new RestoredJournals(options.dataDir);
  try {
    const header = contentOf<BackupHeader>(await reader.take('header'));
    if (header.format !== BACKUP_FORMAT)
      throw new Error(`the file has format ${header.format}, made by a newer version`);
    if (journals.isTaken) throw new Error(`${options.dataDir} has journals: choose an empty DATA_DIR`);
    await readJournals(reader, journals);
    const schema = contentOf<CopiedSchema>(await reader.take('schema'));
    await requireEmpty(tables, schema);
    const migrations = MIGRATIONS.filter(({ name }) => schema.migrations.includes(name));
    await runMigrations({ url: options.url, migrations, clock: options.clock, waitMs: 0 });
    await tables.replaceAll(schema, (into) => fill(reader, into, options.onTable));
    if (options.journal !== undefined) await journals.add(options.journal);
    const missing = await journals.missing((ids) => tables.countEvents(ids));
    journals.keep();
    return { bytes, takenAt: header.taken_at, missing };
  } finally {
    chunks.destroy();
    journals.discard();
    await tables.close();
  }
}

async function requireEmpty(tables: CopiedTables, { migrations }: CopiedSchema): Promise<void> {
  const known = new Set(MIGRATIONS.map(({ name }) => name));
  const unknown = migrations.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`the copy has the migration ${unknown}: install the version that made it`);
  if (await tables.hasInstances()) throw new Error('a gateway runs on this database: stop it first');
  if (await tables.hasAccounts()) throw new Error('the database has accounts: choose an empty one');
  const beyond = (await tables.migrations()).find((name) => !migrations.includes(name));
  if (beyond !== undefined) throw new Error('the database has tables of another version: choose an empty one');
}

async function readJournals(reader: FrameReader, journals: RestoredJournals): Promise<void> {
  for (let next = await reader.takeIf('journal'); next !== undefined; next = await reader.takeIf('journal')) {
    const file = journals.fileOf(contentOf<CopiedSegment>(next));
    await pipeline(Readable.from(reader.data()), createWriteStream(file, { mode: 0o600 }));
  }
}

async function fill(
  reader: FrameReader,
  into: (table: CopiedTable) => NodeJS.WritableStream,
  onTable: (name: string) => void,
): Promise<void> {
  for (let next = await reader.takeIf('table'); next !== undefined; next = await reader.takeIf('table')) {
    const table = contentOf<CopiedTable>(next);
    onTable(table.name);
    await pipeline(Readable.from(reader.data()), into(table));
  }
  await reader.take('end');
}

/** The JSON of a frame. Anyone who can write the file can write any row, so its shape is not checked. */
function contentOf<T>({ content }: { readonly content: Buffer }): T {
  return JSON.parse(content.toString('utf8')) as T;
}
