import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { errorText } from '../common/errors/error-text.js';
import { SystemIds } from '../common/ids.js';
import { CounterReader } from '../limits/requests/backends/counter-reader.js';
import { LimitEpochsRepository } from '../limits/requests/epochs/limit-epochs.repository.js';
import { processEnvironment } from '../platform/config/environment.js';
import { readDatabaseTime } from '../platform/instances/instances.repository.js';
import { type OpenPlatform, openPlatform } from '../platform/open-platform.js';
import { storedSecrets } from '../stored-secrets.js';
import { CounterLedgerRepository } from './ledger/counter-ledger.repository.js';
import { CounterLedger } from './ledger/counter-ledger.service.js';
import { renderLedgerJson, renderLedgerReport } from './ledger/ledger-report.rules.js';
import { patientDataSource } from './ledger/patient-data-source.js';
import { UsageLedgerRepository } from './ledger/usage-ledger.repository.js';
import { UsageLedger } from './ledger/usage-ledger.service.js';

const DIFFERS = 1;
const NOT_CHECKED = 2;
/** Longest wait for the Redis connection. */
const REDIS_WAIT_MS = 5_000;
const REDIS_LOOK_MS = 20;

/**
 * Verifies that every rollup equals the sum of its events, and that request counts match, with or without a running
 * service, with the settings of the service. The report goes to standard output, as one JSON object with `--json`. Exit
 * code 0 when everything matches, 1 on a difference, 2 when the check failed.
 */
async function main(): Promise<void> {
  const platform = await openPlatform(processEnvironment(), {
    ids: new SystemIds(),
    log: () => undefined,
    storedSecrets,
  });
  try {
    const patient = await patientDataSource(platform.parts.dataSource);
    await redisReached(platform);
    const { sharedClock: clock } = platform.parts;
    const asked = clock.read();
    clock.adopt(asked, await readDatabaseTime(patient));
    try {
      const counters = await counterLedger(platform, patient).verify();
      const sums = await new UsageLedger(new UsageLedgerRepository(patient), clock).verify();
      const render = process.argv.includes('--json') ? renderLedgerJson : renderLedgerReport;
      process.stdout.write(render(sums, counters));
      process.exitCode = sums.findings.length + counters.findings.length === 0 ? 0 : DIFFERS;
    } finally {
      await patient.destroy();
    }
  } finally {
    await platform.close();
  }
}

function counterLedger({ parts }: OpenPlatform, patient: DataSource): CounterLedger {
  const counters = new CounterReader(new LimitEpochsRepository(patient), parts.redis);
  const journals = join(resolve(parts.environment.DATA_DIR), 'journal');
  return new CounterLedger(new CounterLedgerRepository(patient), counters, { clock: parts.clock, journals });
}

/** Waits briefly for Redis, if configured; the check reports later whether it needs it. */
async function redisReached({ parts: { redis, clock } }: OpenPlatform): Promise<void> {
  const startedMs = clock.monotonicMs();
  while (redis.state === 'lost' && clock.monotonicMs() - startedMs < REDIS_WAIT_MS) await sleep(REDIS_LOOK_MS);
}

await main().catch((error: unknown) => {
  process.stderr.write(`The ledger could not be checked: ${errorText(error)}\n`);
  process.exitCode = NOT_CHECKED;
});
