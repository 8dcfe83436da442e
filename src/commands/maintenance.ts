import { NestFactory } from '@nestjs/core';
import { SystemClock } from '../common/clock.js';
import { errorText } from '../common/errors/error-text.js';
import { SystemIds } from '../common/ids.js';
import { processEnvironment } from '../platform/config/environment.js';
import { type OpenPlatform, openPlatform } from '../platform/open-platform.js';
import { platformModule } from '../platform/platform.module.js';
import { stopRequest } from '../platform/stop-request.js';
import { RetentionModule } from '../retention/retention.module.js';
import { Retention } from '../retention/retention.service.js';
import { storedSecrets } from '../stored-secrets.js';

class MaintenanceModule {}

/**
 * Runs retention now, with or without a running service, with the settings of the service. The log goes to standard
 * output. Exit code 1 after a failed step, a failed start, or a signal, which lets the current statement finish and
 * leaves the rest for the next run.
 */
async function main(): Promise<void> {
  const stop = new AbortController();
  void stopRequest().then(() => stop.abort());
  const platform = await openPlatform(processEnvironment(), {
    clock: new SystemClock(),
    ids: new SystemIds(),
    storedSecrets,
    log: (line) => process.stdout.write(`${line}\n`),
  });
  try {
    const outcome = await runRetention(platform, stop.signal);
    process.exitCode = outcome === 'done' || outcome === 'skipped' ? 0 : 1;
  } finally {
    await platform.close();
  }
}

async function runRetention({ parts }: OpenPlatform, signal: AbortSignal) {
  const root = { module: MaintenanceModule, imports: [platformModule(parts), RetentionModule] };
  const app = await NestFactory.createApplicationContext(root, { logger: false, abortOnError: false });
  try {
    return await app.get(Retention).run(signal);
  } finally {
    await app.close();
  }
}

await main().catch((error: unknown) => {
  process.stderr.write(`Maintenance could not begin: ${errorText(error)}\n`);
  process.exitCode = 1;
});
