import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { SystemIds } from '../../common/ids.js';
import { type EmbeddedHome, hasCluster, openHome, requirePassword } from './embedded-postgres-home.js';

const ids = new SystemIds();
let base: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'gw-home-')));
  chmodSync(base, 0o711);
});

afterEach(() => rmSync(base, { recursive: true }));

function pretendCluster(home: EmbeddedHome): void {
  mkdirSync(home.cluster);
  writeFileSync(join(home.cluster, 'PG_VERSION'), '18\n');
}

describe('embedded home', () => {
  it('new data directory → <dataDir>/postgres, not listable by others', () => {
    const home = openHome(join(base, 'a', 'b'));
    expect(home.directory).toBe(join(base, 'a', 'b', 'postgres'));
    expect(statSync(home.directory).mode & 0o066).toBe(0);
    expect(hasCluster(home.directory)).toBe(false);
  });

  it('the same directory by another path → the same home', () => {
    const home = openHome(join(base, 'real'));
    symlinkSync(join(base, 'real'), join(base, 'link'));
    expect(openHome(join(base, 'link'))).toEqual(home);
  });

  it('password → long, created once, readable only by the service’s account', () => {
    const home = openHome(base);
    const password = requirePassword(home, ids).reveal();
    expect(password).toMatch(/^[0-9A-Za-z]{32}$/);
    expect(requirePassword(home, ids).reveal()).toBe(password);
    expect(statSync(home.passwordFile).mode & 0o777).toBe(0o600);
  });

  it('a database whose password is missing → error instead of a new database', () => {
    const home = openHome(base);
    pretendCluster(home);
    expect(() => requirePassword(home, ids)).toThrow(`${home.passwordFile} is missing`);
  });

  (process.getuid?.() === 0 ? it : it.skip)(
    'root, an existing database became unreachable → refused, not replaced',
    () => {
      const home = openHome(base);
      pretendCluster(home);
      chmodSync(base, 0o700);
      expect(() => openHome(base)).toThrow(/cannot be reached by .* allow it to pass/);
    },
  );
});
