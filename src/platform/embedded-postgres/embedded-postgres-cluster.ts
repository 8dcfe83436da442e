import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Secret } from '../../common/log/secret.js';
import type { EmbeddedHome } from './embedded-postgres-home.js';

/** The superuser of an embedded server and the name of its database. */
export const EMBEDDED_NAME = 'gateway';

/** Runs the Postgres programs under the home's account, without the environment of this process. */
export function programOptions(home: EmbeddedHome) {
  return {
    uid: home.account?.uid,
    gid: home.account?.gid,
    cwd: home.directory,
    env: { LC_ALL: 'C', TZ: 'UTC' },
  };
}

/**
 * Runs one Postgres program to its end.
 *
 * @throws Error with the program's output when it fails.
 */
export async function runProgram(home: EmbeddedHome, program: string, args: readonly string[]): Promise<void> {
  const child = spawn(program, args, { ...programOptions(home), stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const [code]: unknown[] = await once(child, 'close');
  if (code !== 0) throw new Error(`${program} failed: ${said.trim()}`);
}

/**
 * Creates the database cluster. It gets its final name only when complete, so an interrupted creation starts over. The
 * caller holds the lock.
 *
 * @param quick skips syncing to disk; only for tests.
 */
export async function createCluster(home: EmbeddedHome, bin: string, password: Secret, quick: boolean): Promise<void> {
  const draft = `${home.cluster}.new`;
  const passwordFile = join(home.directory, 'password.initdb');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  giveTo(home, draft);
  try {
    writeFileSync(passwordFile, password.reveal(), { mode: 0o600 });
    giveTo(home, passwordFile);
    await runProgram(home, join(bin, 'initdb'), [
      ...['-D', draft, '-U', EMBEDDED_NAME, '--auth=scram-sha-256', `--pwfile=${passwordFile}`],
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ...(quick ? ['--no-sync'] : []),
    ]);
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, home.cluster);
}

function giveTo({ account }: EmbeddedHome, path: string): void {
  if (account !== undefined) chownSync(path, account.uid, account.gid);
}
