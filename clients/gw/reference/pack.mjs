/**
 * Packs only the client, `npm run pack:gw`: `dist/gw-<version>.mjs`, a single file that Node runs,
 * `dist/gw-<version>.tgz`, which npm installs, and the checksums of both in `dist/SHA256SUMS`.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { build } from 'vite';
import { NODE_FLOOR } from '../program/node-floor.rules.ts';
import { bundleOf, KEYCHAIN } from './bundle.mjs';

const ROOT = join(import.meta.dirname, '../../..');
const DIST = join(ROOT, 'dist');
const { version, license, optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
/** A scope with a dot cannot be registered, so no registry has another package of this name. */
const NAME = '@gateway.local/gw';

const packed = [await oneFile(`gw-${version}.mjs`), await installable(`gw-${version}.tgz`)];
const sums = packed.map((name) => `${hashOf(readFileSync(join(DIST, name)))}  ${name}\n`);
writeFileSync(join(DIST, 'SHA256SUMS'), sums.join(''));
process.stdout.write([...packed, 'SHA256SUMS'].map((name) => `dist/${name}\n`).join(''));

function oneFile(name) {
  return inFolder(async (folder) => {
    const input = join(ROOT, 'clients/gw/main.ts');
    await build({
      root: ROOT,
      ...bundleOf(version, { outDir: folder, input, output: { entryFileNames: name, codeSplitting: false } }),
    });
    cpSync(join(folder, name), join(DIST, name));
    chmodSync(join(DIST, name), 0o755);
    return name;
  });
}

function installable(name) {
  return inFolder((folder) => {
    cpSync(join(DIST, 'gw'), folder, { recursive: true, filter: (path) => !path.endsWith('reference.js') });
    cpSync(join(ROOT, 'docs/cli.md'), join(folder, 'README.md'));
    const manifest = {
      ...{ name: NAME, version, private: true, description: 'The command-line client of the gateway.' },
      ...{ type: 'module', license, engines: { node: `>=${NODE_FLOOR}` }, bin: { gw: 'gw.js' } },
      optionalDependencies: { [KEYCHAIN]: optionalDependencies[KEYCHAIN] },
    };
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    const { status, stdout } = spawnSync('npm', ['pack', '--silent', '--pack-destination', DIST], {
      ...{ cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell: process.platform === 'win32' },
    });
    if (status !== 0) throw new Error('npm pack failed.');
    renameSync(join(DIST, stdout.trim().split('\n').at(-1)), join(DIST, name));
    return name;
  });
}

/** Works in a folder that is removed afterwards. */
async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'gw-pack-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function hashOf(content) {
  return createHash('sha256').update(content).digest('hex');
}
