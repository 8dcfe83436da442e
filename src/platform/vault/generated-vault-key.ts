import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../common/errors/error-code.js';
import type { Ids } from '../../common/ids.js';
import type { VaultEnvironment } from './vault-settings.rules.js';

const KEY_BYTES = 32;
const VAULT_VARIABLE = /^SECRET_VAULT_/;

/**
 * The vault's variables for a service that keeps its own database: the operator's, when any is set; otherwise a local
 * key that is made once and kept in `<DATA_DIR>/secrets/vault-key-v1`, readable by its owner only (decision 1.1).
 * Whoever creates the file first wins; a second process that starts at the same moment reads that key.
 */
export function vaultEnvironmentWithKey(env: VaultEnvironment, dataDir: string, ids: Ids): VaultEnvironment {
  if (Object.keys(env).some((name) => VAULT_VARIABLE.test(name) && env[name])) return env;
  const directory = join(dataDir, 'secrets');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const file = join(directory, 'vault-key-v1');
  if (!existsSync(file)) makeKeyFile(file, ids);
  return { SECRET_VAULT_MODE: 'local', SECRET_VAULT_LOCAL_KEK_V1: readFileSync(file, 'utf8').trim() };
}

/** A link appears with its content complete and fails when the name is taken, so nobody reads half a key. */
function makeKeyFile(file: string, ids: Ids): void {
  const draft = `${file}.${ids.uuid()}`;
  writeFileSync(draft, ids.bytes(KEY_BYTES).toString('base64'), { flag: 'wx', mode: 0o600, flush: true });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
