import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import type { Environment } from '../platform/config/environment.js';
import { dataDirProblem, listenProblem } from '../platform/config/start-problem.rules.js';

/** Large enough that a full disk refuses it. */
const PROBE_BYTES = 4_096;

/**
 * Checks what can be known before the database starts: the data directory, which is created when absent, takes a file,
 * and the port is free.
 *
 * @throws EnvironmentError a sentence that names the setting and the fix.
 * Source: docs/operations.md#start.
 */
export async function checkSystem(environment: Environment): Promise<void> {
  checkDataDir(resolve(environment.DATA_DIR));
  await checkPort(environment);
}

/** Other accounts may pass the directory where root made it: the embedded database does not run as root. */
function checkDataDir(dataDir: string): void {
  const probe = join(dataDir, `.start-${process.pid}`);
  try {
    mkdirSync(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
    try {
      writeFileSync(probe, Buffer.alloc(PROBE_BYTES), { mode: 0o600, flush: true });
    } finally {
      rmSync(probe, { force: true });
    }
  } catch (error) {
    throw dataDirProblem(error, dataDir);
  }
}

async function checkPort(environment: Environment): Promise<void> {
  const { HOST, PORT } = environment;
  const server = createServer();
  await new Promise<void>((done, fail) => {
    server.once('error', (error) => fail(listenProblem(error, environment)));
    server.listen(PORT, HOST, () => server.close(() => done()));
  });
}
