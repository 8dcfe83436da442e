import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { SystemClock } from '../common/clock.js';
import { errorText } from '../common/errors/error-text.js';
import { SystemIds } from '../common/ids.js';
import { Log } from '../common/log/log.js';
import { loadEnvironment, processEnvironment } from '../platform/config/environment.js';
import { openDatabase } from '../platform/open-platform.js';
import { writeBackup } from './backup/write-backup.js';

const USAGE = 'npm run backup -- <file>';

/**
 * Copies the database and the journal to a file, with or without a running service, with the settings of the service.
 * Prints file, size and time; progress goes to standard error. Exit code 1 when there is no copy.
 */
async function main(): Promise<void> {
  const { positionals } = parseArgs({ allowPositionals: true });
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new Error(`usage: ${USAGE}`);
  const environment = loadEnvironment(processEnvironment());
  const log = new Log(new SystemClock(), environment.LOG_LEVEL, () => undefined);
  const database = await openDatabase(environment, new SystemIds(), log);
  try {
    const { bytes, takenAt } = await writeBackup(file, {
      url: database.url,
      dataDir: resolve(environment.DATA_DIR),
      onTable: (name) => process.stderr.write(process.stderr.isTTY ? `Copying ${name}\n` : ''),
    });
    process.stdout.write(`${file} ${bytes} bytes, taken_at ${takenAt}\n`);
    process.stderr.write(
      'The keys of the vault are not in the file: keep DATA_DIR/secrets or SECRET_VAULT_* elsewhere. ' +
        'Without them, provider keys must be entered again.\n',
    );
  } finally {
    await database.stop();
  }
}

await main().catch((error: unknown) => {
  process.stderr.write(`There is no new backup: ${errorText(error)}\n`);
  process.exitCode = 1;
});
