import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SystemClock } from '../common/clock.js';
import { errorText } from '../common/errors/error-text.js';
import { SystemIds } from '../common/ids.js';
import { Log } from '../common/log/log.js';
import { loadEnvironment, processEnvironment } from '../platform/config/environment.js';
import { openDatabase, openPlatform } from '../platform/open-platform.js';
import { storedSecrets } from '../stored-secrets.js';
import { type RestoredBackup, readBackup } from './backup/read-backup.js';
import { patientDataSource } from './ledger/patient-data-source.js';
import { UsageLedgerRepository } from './ledger/usage-ledger.repository.js';
import { UsageLedger } from './ledger/usage-ledger.service.js';

const USAGE = 'npm run restore -- <file> [--journal <directory>]';

/**
 * Restores a backup into an empty place, with the settings of the service: `DATABASE_URL` or `DATA_DIR` name the place.
 * Then migrates it to this version, and compares every sum with its events. Prints file, size and time; what the next
 * start adds and what is lost goes to standard error. Exit code 1 when nothing was restored, or a sum differs.
 */
async function main(): Promise<void> {
  const { positionals, values } = parseArgs({ allowPositionals: true, options: { journal: { type: 'string' } } });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new Error(`usage: ${USAGE}`);
  const environment = loadEnvironment(processEnvironment());
  const clock = new SystemClock();
  const database = await openDatabase(environment, new SystemIds(), new Log(clock, environment.LOG_LEVEL, () => {}));
  try {
    const restored = await readBackup(file, {
      url: database.url,
      dataDir: resolve(environment.DATA_DIR),
      ...{ clock, journal: values.journal },
      onTable: (name) => process.stderr.write(process.stderr.isTTY ? `Restoring ${name}\n` : ''),
    });
    await verify();
    process.stdout.write(`${file} ${restored.bytes} bytes, taken_at ${restored.takenAt}\n`);
    process.stderr.write(noticeOf(restored));
  } finally {
    await database.stop();
  }
}

/** Migrates the restored database to this version, and compares its sums. */
async function verify(): Promise<void> {
  const platform = await openPlatform(processEnvironment(), {
    ids: new SystemIds(),
    storedSecrets,
    log: (line) => process.stderr.write(`${line}\n`),
  });
  try {
    const patient = await patientDataSource(platform.parts.dataSource);
    const ledger = new UsageLedger(new UsageLedgerRepository(patient), platform.parts.clock);
    const { findings } = await ledger.verify().finally(() => patient.destroy());
    if (findings.length === 0) return;
    process.stderr.write(`${findings.length} sums differ from their events: run npm run verify-ledger.\n`);
    process.exitCode = 1;
  } finally {
    await platform.close();
  }
}

function noticeOf({ takenAt, missing: { ended, open } }: RestoredBackup): string {
  return (
    `The next start stores ${ended} calls of the journal that the database lacks, and ${open} that were open, as ` +
    `unresolved. Changes after ${takenAt} are missing: revoke again what was revoked since.\n`
  );
}

await main().catch((error: unknown) => {
  process.stderr.write(`Nothing was restored: ${errorText(error)}\n`);
  process.exitCode = 1;
});
