import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Ids, SystemIds } from '../../common/ids.js';
import { readVaultSettings } from './vault-settings.rules.js';
import { vaultEnvironmentWithKey } from './vault-variables.js';

const ids = new SystemIds();
let dataDir: string;
let file: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gw-vault-'));
  file = join(dataDir, 'secrets', 'vault-key-v1');
});

afterEach(() => rmSync(dataDir, { recursive: true }));

/** Another process finishes its key while this one generates its own. */
class RacingIds extends SystemIds {
  override bytes(length: number): Buffer {
    vaultEnvironmentWithKey({}, dataDir, ids);
    return super.bytes(length);
  }
}

/** The disk is full before the key is written completely. */
class FailingIds extends Ids {
  bytes(): Buffer {
    throw new Error('no space left');
  }

  uuid(): string {
    return 'draft';
  }
}

describe('generated vault key', () => {
  it('no vault variable → a key of 256 bits that the vault accepts', () => {
    const env = vaultEnvironmentWithKey({ PORT: '1' }, dataDir, ids);
    expect(env.SECRET_VAULT_MODE).toBe('local');
    expect(Buffer.from(env.SECRET_VAULT_LOCAL_KEK_V1 ?? '', 'base64')).toHaveLength(32);
    expect(readVaultSettings(env)).toMatchObject({ mode: 'local', currentVersion: 1 });
  });

  it('second start → the same key; another directory → another key', () => {
    const first = vaultEnvironmentWithKey({}, dataDir, ids);
    expect(vaultEnvironmentWithKey({}, dataDir, ids)).toEqual(first);
    expect(vaultEnvironmentWithKey({}, join(dataDir, 'other'), ids)).not.toEqual(first);
  });

  it('key and directory → for their owner only; nothing else is left behind', () => {
    vaultEnvironmentWithKey({}, dataDir, ids);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(dataDir, 'secrets')).mode & 0o777).toBe(0o700);
    expect(readdirSync(join(dataDir, 'secrets'))).toEqual(['vault-key-v1']);
  });

  it('two processes at once → both use the key of the first', () => {
    const env = vaultEnvironmentWithKey({}, dataDir, new RacingIds());
    expect(env.SECRET_VAULT_LOCAL_KEK_V1).toBe(readFileSync(file, 'utf8'));
    expect(vaultEnvironmentWithKey({}, dataDir, ids)).toEqual(env);
    expect(readdirSync(join(dataDir, 'secrets'))).toHaveLength(1);
  });

  it('the key cannot be written → no partial key that the next start would use', () => {
    expect(() => vaultEnvironmentWithKey({}, dataDir, new FailingIds())).toThrow('no space left');
    expect(existsSync(file)).toBe(false);
    expect(vaultEnvironmentWithKey({}, dataDir, ids).SECRET_VAULT_LOCAL_KEK_V1).toHaveLength(44);
  });

  it('a key with a line end, as editors add → read without it', () => {
    const env = vaultEnvironmentWithKey({}, dataDir, ids);
    writeFileSync(file, `${env.SECRET_VAULT_LOCAL_KEK_V1}\n`);
    expect(vaultEnvironmentWithKey({}, dataDir, ids)).toEqual(env);
  });

  it.each([
    [{ SECRET_VAULT_MODE: 'kms' }],
    [{ SECRET_VAULT_LOCAL_KEK_V2: 'x' }],
    [{ SECRET_VAULT_KMS_URL: 'https://k' }],
  ])('operator set %j → used as set, valid or not, and no key is generated', (env) => {
    expect(vaultEnvironmentWithKey(env, dataDir, ids)).toBe(env);
    expect(existsSync(file)).toBe(false);
  });

  it('an empty vault variable → counts as not set', () => {
    expect(vaultEnvironmentWithKey({ SECRET_VAULT_MODE: '' }, dataDir, ids).SECRET_VAULT_MODE).toBe('local');
  });
});
