import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { programEnvironment } from '../../support/platform/gateway-process.js';
import { testEnvironment } from '../../support/world.js';

const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));
const PATIENCE_MS = 120_000;
/** Root itself may write everywhere. */
const NOBODY = { uid: 65_534, gid: 65_534 };
const IS_ROOT = process.getuid?.() === 0;
const EMBEDDED = { DATABASE_URL: '', REDIS_URL: '' };

interface Ended {
  readonly code: number | null;
  readonly log: string;
  /** Its output without the line that explains it. */
  readonly said: string;
}

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-start-problems-'));
  chmodSync(directory, 0o755);
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** Runs the real program until it exits. */
async function start(settings: Readonly<Record<string, string>>, account: object = {}): Promise<Ended> {
  const all = { ...testEnvironment('', join(directory, 'data'), ''), ...settings };
  const child = spawn(process.execPath, [MAIN], { env: programEnvironment(all), ...account });
  const [log, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  const said = errors.replace('The gateway does not start, because of these settings:\n', '').trim();
  return { code: child.exitCode, log, said };
}

/** One sentence, the exit code, and no database that was started. */
function expectSentence({ code, log, said }: Ended, sentence: string): void {
  expect(said).toContain(sentence);
  expect(said.split('\n')).toHaveLength(1);
  expect(code).toBe(1);
  expect(log).not.toContain('database_embedded_started');
}

describe('a start that the system prevents', () => {
  it.each<Record<string, string>>([{}, { WORKERS: '2', REDIS_URL: 'redis://127.0.0.1:1' }])(
    'the port is taken, %j → PORT',
    async (settings) => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const port = String(Object(other.address()).port);
      try {
        const ended = await start({ ...EMBEDDED, ...settings, PORT: port });
        expectSentence(ended, `PORT ${port} is in use on 127.0.0.1 (EADDRINUSE)`);
      } finally {
        other.close();
      }
    },
    PATIENCE_MS,
  );

  it.each([
    ['host.invalid', /HOST host\.invalid is not an address of this machine \((?:ENOTFOUND|EAI_AGAIN)\)/],
    ['192.0.2.1', /HOST 192\.0\.2\.1 is not an address of this machine \(EADDRNOTAVAIL\)/],
  ])(
    'HOST %s → HOST',
    async (host, sentence) => {
      const ended = await start({ ...EMBEDDED, HOST: host });
      expect(ended.said).toMatch(sentence);
      expectSentence(ended, 'set HOST to one of its addresses');
    },
    PATIENCE_MS,
  );

  it.each(['file', 'file/below'])(
    'DATA_DIR %s → is not a directory',
    async (path) => {
      writeFileSync(join(directory, 'file'), '');
      const ended = await start({ ...EMBEDDED, DATA_DIR: join(directory, path) });
      expectSentence(ended, `DATA_DIR ${join(directory, path)} is not a directory`);
    },
    PATIENCE_MS,
  );

  const nobodyRuns = IS_ROOT && spawnSync(process.execPath, [MAIN, '--compile-only'], NOBODY).status === 0;
  const itAsNobody = nobodyRuns ? it : it.skip;

  itAsNobody(
    'DATA_DIR that this account may not write → DATA_DIR (skipped where root cannot run the program as nobody)',
    async () => {
      const closed = join(directory, 'closed');
      mkdirSync(closed, { mode: 0o755 });
      const ended = await start({ ...EMBEDDED, DATA_DIR: closed }, NOBODY);
      expectSentence(ended, `DATA_DIR ${closed} cannot be used by this account (EACCES at ${closed}/.start-`);
    },
    PATIENCE_MS,
  );

  itAsNobody(
    'DATA_DIR whose content another account owns → DATA_DIR (skipped where root cannot run the program as nobody)',
    async () => {
      const foreign = join(directory, 'foreign');
      mkdirSync(join(foreign, 'postgres'), { recursive: true });
      chmodSync(foreign, 0o777);
      const ended = await start({ ...EMBEDDED, DATA_DIR: foreign }, NOBODY);
      expectSentence(ended, `DATA_DIR ${foreign} cannot be used by this account (EPERM at ${foreign}/postgres)`);
    },
    PATIENCE_MS,
  );

  const canMount = IS_ROOT && process.platform === 'linux' && mounts();
  const itMounting = canMount ? it : it.skip;

  itMounting.each([
    ['no space at all', '4k'],
    ['space for a start, not for a database', '2m'],
  ])(
    'a disk with %s → DATA_DIR (skipped where a file system cannot be mounted)',
    async (_name, size) => {
      const disk = join(directory, 'disk');
      mkdirSync(disk);
      expect(spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk]).status).toBe(0);
      try {
        const ended = await start({ ...EMBEDDED, DATA_DIR: join(disk, 'data') });
        expectSentence(ended, `DATA_DIR ${join(disk, 'data')} has no space left (ENOSPC)`);
      } finally {
        spawnSync('umount', [disk]);
      }
    },
    PATIENCE_MS,
  );

  it.each<[string, Record<string, string>]>([
    ['APP_ATTEST_ROOT_CA_FILE', {}],
    ['ANDROID_ATTESTATION_ROOTS_FILE', {}],
    ['OAUTH_CLIENTS_FILE', {}],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:private@127.0.0.1:1/db', DATABASE_WAIT_SECONDS: '0' }],
    ['DATABASE_URL', { DATABASE_URL: 'postgres://u:private@db.invalid/db', DATABASE_WAIT_SECONDS: '0' }],
  ])(
    '%s that cannot be reached, %j → its name, in one line',
    async (name, settings) => {
      const file = { [name]: join(directory, 'absent') };
      const ended = await start({ ...EMBEDDED, ...file, ...settings });
      expect(ended.said).toContain(`${name} `);
      expect(ended.said).not.toContain('private');
      expect(ended.said.split('\n')).toHaveLength(1);
      expect(ended.code).toBe(1);
    },
    PATIENCE_MS,
  );
});

/** Whether this process may mount; containers often may not. */
function mounts(): boolean {
  const probe = mkdtempSync(join(tmpdir(), 'gateway-mount-'));
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', 'tmpfs', probe]).status === 0;
  if (isMounted) spawnSync('umount', [probe]);
  rmSync(probe, { recursive: true });
  return isMounted;
}
