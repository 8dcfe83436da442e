import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemIds } from '../../common/ids.js';
import { EnvironmentError, loadEnvironment } from '../config/environment.js';
import { authSecretsOf, tokenSecretsOf } from './signing-secrets.js';

const ids = new SystemIds();
const OLD = 'o'.repeat(32);
const NEW = 'n'.repeat(32);
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gw-signing-secrets-'));
});

afterEach(() => rmSync(dataDir, { recursive: true }));

describe.each([
  { setting: 'JWT_SECRET', file: 'jwt-secret', read: tokenSecretsOf },
  { setting: 'AUTH_SECRET', file: 'auth-secret', read: authSecretsOf },
])('$setting', ({ setting, file, read }) => {
  const previous = `${setting}_PREVIOUS`;
  const secretsOf = (env: Record<string, string>, embedded: boolean) =>
    read({ environment: loadEnvironment(env), embedded, dataDir, ids });

  it('set → signs, with either database; the previous one still verifies', () => {
    for (const embedded of [true, false]) {
      const secrets = secretsOf({ [setting]: NEW, [previous]: OLD }, embedded);
      expect([secrets.current.reveal(), secrets.previous?.reveal()]).toEqual([NEW, OLD]);
    }
    expect(readdirSync(dataDir)).toEqual([]);
  });

  it('embedded database, unset → generated once, for its owner only', () => {
    const first = secretsOf({}, true).current.reveal();
    expect(Buffer.from(first, 'base64')).toHaveLength(32);
    expect(secretsOf({}, true).current.reveal()).toBe(first);
    expect(statSync(join(dataDir, 'secrets', file)).mode & 0o777).toBe(0o600);
  });

  it('embedded database, only the previous one is set → it verifies, a generated one signs', () => {
    const secrets = secretsOf({ [previous]: OLD }, true);
    expect(secrets.previous?.reveal()).toBe(OLD);
    expect(secrets.current.reveal()).not.toBe(OLD);
  });

  it('external database, unset → refused with what to set, whatever other settings are', () => {
    const others = { JWT_SECRET: OLD, AUTH_SECRET: OLD, [setting]: '' };
    expect(() => secretsOf(others, false)).toThrow(EnvironmentError);
    expect(() => secretsOf(others, false)).toThrow(`${setting} is required with DATABASE_URL`);
  });

  it.each([setting, previous])('%s below 32 bytes → refused without repeating it', (name) => {
    const short = 'short-and-private-secret';
    expect(() => loadEnvironment({ [name]: short })).toThrow(`${name} must be at least 32 bytes`);
    expect(() => loadEnvironment({ [name]: short })).not.toThrow(short);
  });
});

it('generated: each secret is different', () => {
  const sources = { environment: loadEnvironment({}), embedded: true, dataDir, ids };
  expect(authSecretsOf(sources).current.reveal()).not.toBe(tokenSecretsOf(sources).current.reveal());
});
