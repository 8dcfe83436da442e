import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../common/errors/error-code.js';
import type { Ids } from '../../common/ids.js';

const SECRET_BYTES = 32;

/**
 * A 256-bit secret that is generated once and kept in `<DATA_DIR>/secrets`, readable by its owner only. The first
 * process to create the file wins; a concurrent process reads that secret.
 *
 * @param name of the file.
 * @returns base64.
 */
export function generatedSecret(dataDir: string, name: string, ids: Ids): string {
  const directory = join(dataDir, 'secrets');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, name);
  if (!existsSync(file)) makeSecretFile(file, ids);
  return readFileSync(file, 'utf8').trim();
}

/** A hard link appears with complete content and fails when the name exists, so no reader sees a partial secret. */
function makeSecretFile(file: string, ids: Ids): void {
  const draft = `${file}.${ids.uuid()}`;
  writeFileSync(draft, ids.bytes(SECRET_BYTES).toString('base64'), { flag: 'wx', mode: 0o600, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
