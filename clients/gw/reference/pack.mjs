/**
 * Packs the client alone, `npm run pack:gw`: the program that `dist/gw` holds, which needs no packages but an optional one
 * for the keychain. The file is `dist/gw-<version>.tgz`.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { NODE_FLOOR } from '../program/node-floor.rules.ts';

const ROOT = join(import.meta.dirname, '../../..');
const { version, license, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const KEYCHAIN = '@napi-rs/keyring';

const folder = mkdtempSync(join(tmpdir(), 'gw-pack-'));
try {
  cpSync(join(ROOT, 'dist/gw'), folder, { recursive: true, filter: (path) => !path.endsWith('reference.js') });
  cpSync(join(ROOT, 'docs/cli.md'), join(folder, 'README.md'));
  const manifest = {
    ...{
      name: 'gw',
      version,
      description: 'The command-line client of the gateway.',
      type: 'module',
      license,
      engines: { node: `>=${NODE_FLOOR}` },
    },
    bin: { gw: 'gw.js' },
    optionalDependencies: { [KEYCHAIN]: optionalDependencies[KEYCHAIN] },
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const packed = spawnSync('npm', ['pack', '--silent', '--pack-destination', join(ROOT, 'dist')], {
    ...{ cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell: process.platform === 'win32' },
  });
  if (packed.status !== 0) throw new Error('npm pack has failed.');
  process.stdout.write(`dist/${packed.stdout.trim().split('\n').at(-1)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
