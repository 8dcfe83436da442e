import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isVaultMisconfiguration, readVaultSettings, type VaultEnvironment } from './vault-settings.rules.js';

const keyOf = (byte: number, length = 32) => Buffer.alloc(length, byte).toString('base64');
const LOCAL = { SECRET_VAULT_MODE: 'local', SECRET_VAULT_LOCAL_KEK_V1: keyOf(0xfb) };
const KMS = {
  SECRET_VAULT_MODE: 'kms',
  SECRET_VAULT_KMS_URL: 'https://kms.example.com/v1/',
  SECRET_VAULT_KMS_TOKEN: 'token-of-the-service',
};

function variableAtFault(env: VaultEnvironment): string | undefined {
  const settings = readVaultSettings(env);
  return isVaultMisconfiguration(settings) ? settings.variable : undefined;
}

describe('readVaultSettings in local mode', () => {
  it('one key → version 1 seals', () => {
    const settings = readVaultSettings({ ...LOCAL, UNRELATED: 'x' });
    if (isVaultMisconfiguration(settings) || settings.mode !== 'local') throw new Error('local settings expected');
    expect(settings.currentVersion).toBe(1);
    expect(settings.keys.get(1)?.export()).toEqual(Buffer.alloc(32, 0xfb));
  });

  it('several keys and a current version → all open, the current one seals', () => {
    const settings = readVaultSettings({
      ...LOCAL,
      SECRET_VAULT_LOCAL_KEK_V9999: keyOf(2),
      SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION: '9999',
    });
    if (isVaultMisconfiguration(settings) || settings.mode !== 'local') throw new Error('local settings expected');
    expect([...settings.keys.keys()].sort()).toEqual([1, 9999]);
    expect(settings.currentVersion).toBe(9999);
  });

  it('empty values → count as unset', () => {
    const env = { ...LOCAL, SECRET_VAULT_KMS_URL: '', SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION: '' };
    expect(variableAtFault(env)).toBeUndefined();
  });

  it.each(['V0', 'V01', 'V10000', 'V', 'v2', 'V-1', 'V1 ', '2', 'VX'])('key name …_%s → misconfigured', (suffix) => {
    const name = `SECRET_VAULT_LOCAL_KEK_${suffix}`;
    expect(variableAtFault({ ...LOCAL, [name]: keyOf(1) })).toBe(name);
  });

  it.each([
    ['31 bytes', keyOf(1, 31)],
    ['33 bytes', keyOf(1, 33)],
    ['base64url letters', Buffer.alloc(32, 0xfb).toString('base64url')],
    ['no padding', keyOf(1).replace('=', '')],
    ['white space around', ` ${keyOf(1)}`],
    ['a line break at the end', `${keyOf(1)}\n`],
    ['unused bits set', `${keyOf(0).slice(0, -2)}B=`],
    ['foreign characters inside', `*${keyOf(1)}`],
    ['hexadecimal', '00'.repeat(32)],
  ])('key with %s → misconfigured', (_name, value) => {
    expect(variableAtFault({ ...LOCAL, SECRET_VAULT_LOCAL_KEK_V2: value })).toBe('SECRET_VAULT_LOCAL_KEK_V2');
  });

  it.each([
    ['33 bytes', keyOf(1, 33), 'must be base64 of exactly 32 bytes; these are 33'],
    [
      'a line end',
      `${keyOf(1)}\n`,
      'must be base64 in its standard alphabet, with its padding and without blanks or line ends',
    ],
  ])('key with %s → says which rule it breaks', (_name, value, problem) => {
    expect(readVaultSettings({ ...LOCAL, SECRET_VAULT_LOCAL_KEK_V1: value })).toMatchObject({ problem });
  });

  it.each(['2', '0', '01', '10000', '1.0', ' 1', 'one'])(
    'current version "%s" without such a key → misconfigured',
    (v) => {
      const name = 'SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION';
      expect(variableAtFault({ ...LOCAL, [name]: v })).toBe(name);
    },
  );

  it('first key missing → misconfigured, even when a later one is current', () => {
    const env = {
      SECRET_VAULT_MODE: 'local',
      SECRET_VAULT_LOCAL_KEK_V2: keyOf(2),
      SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION: '2',
    };
    expect(variableAtFault(env)).toBe('SECRET_VAULT_LOCAL_KEK_V1');
  });
});

describe('readVaultSettings in kms mode', () => {
  it('address and token → both secret, no trailing slash', () => {
    const settings = readVaultSettings(KMS);
    if (isVaultMisconfiguration(settings) || settings.mode !== 'kms') throw new Error('kms settings expected');
    expect(settings.url.reveal()).toBe('https://kms.example.com/v1');
    expect(settings.token.reveal()).toBe('token-of-the-service');
    expect(inspect(settings)).not.toMatch(/example|token-of/);
  });

  it.each(['http://localhost:9000', 'http://127.0.0.1:9000', 'http://[::1]:9000'])('%s → accepted', (url) => {
    expect(variableAtFault({ ...KMS, SECRET_VAULT_KMS_URL: url })).toBeUndefined();
  });

  it.each([
    ['SECRET_VAULT_KMS_URL', undefined],
    ['SECRET_VAULT_KMS_URL', 'http://kms.example.com'],
    ['SECRET_VAULT_KMS_URL', 'https://user:pass@kms.example.com'],
    ['SECRET_VAULT_KMS_URL', 'https://kms.example.com/?a=b'],
    ['SECRET_VAULT_KMS_URL', 'https://kms.example.com/#x'],
    ['SECRET_VAULT_KMS_URL', 'not a url'],
    ['SECRET_VAULT_KMS_TOKEN', undefined],
    ['SECRET_VAULT_KMS_TOKEN', 'two words'],
    ['SECRET_VAULT_KMS_TOKEN', 'line\nbreak'],
  ])('%s = %j → misconfigured', (name, value) => {
    expect(variableAtFault({ ...KMS, [name]: value })).toBe(name);
  });
});

describe('readVaultSettings', () => {
  it.each([undefined, '', 'LOCAL', 'none', 'local '])('mode %j → misconfigured', (mode) => {
    expect(variableAtFault({ ...LOCAL, SECRET_VAULT_MODE: mode })).toBe('SECRET_VAULT_MODE');
  });

  it.each([
    [LOCAL, 'SECRET_VAULT_KMS_TOKEN'],
    [LOCAL, 'SECRET_VAULT_KMS_ANYTHING'],
    [KMS, 'SECRET_VAULT_LOCAL_KEK_V1'],
    [KMS, 'SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION'],
  ])('a variable of the other mode → misconfigured (%#)', (env, foreign) => {
    expect(variableAtFault({ ...env, [foreign]: 'x' })).toBe(foreign);
  });

  it.each(['https://169.254.169.254/kms', 'https://metadata.google.internal./'])('%s → not a key service', (url) => {
    expect(readVaultSettings({ ...KMS, SECRET_VAULT_KMS_URL: url })).toEqual({
      variable: 'SECRET_VAULT_KMS_URL',
      problem: 'must not be a cloud metadata address',
    });
  });

  it('any bad value → names the variable, never the value', () => {
    const names = [...Object.keys(LOCAL), ...Object.keys(KMS), 'SECRET_VAULT_LOCAL_KEK_CURRENT_VERSION'];
    fc.assert(
      fc.property(fc.constantFrom(LOCAL, KMS), fc.constantFrom(...names), fc.uuid(), (env, name, value) => {
        const settings = readVaultSettings({ ...env, [name]: `bad ${value}` });
        expect(isVaultMisconfiguration(settings)).toBe(true);
        expect(JSON.stringify(settings)).not.toContain(value);
      }),
    );
  });
});
