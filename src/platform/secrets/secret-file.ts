import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../common/errors/error-code.js';
import type { Ids } from '../../common/ids.js';

const SECRET_BYTES = 32;

/**
 * A secret of 256 bits that is made once and kept in `<DATA_DIR>/secrets`, readable by its owner only.
 * Whoever creates the file first wins; a second process that starts at the same moment reads that secret.
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

/** A link appears with its content complete and fails when the name is taken, so nobody reads half a secret. */
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
