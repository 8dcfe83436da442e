import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemIds } from '../../common/ids.js';
import { EnvironmentError, loadEnvironment } from '../config/environment.js';
import { tokenSecretsOf } from './token-secrets.js';

const ids = new SystemIds();
const OLD = 'o'.repeat(32);
const NEW = 'n'.repeat(32);
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'gw-token-secrets-'));
});

afterEach(() => rmSync(dataDir, { recursive: true }));

function secretsOf(env: Record<string, string>, embedded: boolean) {
  return tokenSecretsOf({ environment: loadEnvironment(env), embedded, dataDir, ids });
}

describe('secrets of gateway tokens (decision 2)', () => {
  it('JWT_SECRET → signs, wherever the database is; the previous one is kept beside it', () => {
    for (const embedded of [true, false]) {
      const secrets = secretsOf({ JWT_SECRET: NEW, JWT_SECRET_PREVIOUS: OLD }, embedded);
      expect([secrets.current.reveal(), secrets.previous?.reveal()]).toEqual([NEW, OLD]);
    }
  });

  it('embedded database, no JWT_SECRET → generated once, for its owner only', () => {
    const first = secretsOf({}, true).current.reveal();
    expect(Buffer.from(first, 'base64')).toHaveLength(32);
    expect(secretsOf({}, true).current.reveal()).toBe(first);
    expect(statSync(join(dataDir, 'secrets', 'jwt-secret')).mode & 0o777).toBe(0o600);
  });

  it('external database, no JWT_SECRET → refused, saying what to set', () => {
    expect(() => secretsOf({}, false)).toThrow(EnvironmentError);
    expect(() => secretsOf({}, false)).toThrow('JWT_SECRET is required with DATABASE_URL');
  });

  it.each(['JWT_SECRET', 'JWT_SECRET_PREVIOUS'])('%s below 32 bytes → refused without being repeated', (name) => {
    const short = 'short-and-private-secret';
    expect(() => loadEnvironment({ [name]: short })).toThrow(`${name} must be at least 32 bytes`);
    expect(() => loadEnvironment({ [name]: short })).not.toThrow(short);
  });
});
