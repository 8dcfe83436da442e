import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../../src/platform/embedded-postgres/embedded-postgres.js';
import { created } from '../../support/accounts/management-call.js';
import { eventually } from '../../support/eventually.js';
import { freePort, GatewayProcess } from '../../support/platform/gateway-process.js';
import { newManagementKey } from '../../support/world.js';

const CHILD = fileURLToPath(new URL('../../support/platform/embedded-postgres-child.mjs', import.meta.url));
const asRoot = process.getuid?.() === 0;

interface Started {
  readonly process: ChildProcess;
  readonly url: string;
  readonly directory: string;
  readonly adopted: boolean;
}

/** One with a database in it, to copy: creating one takes many times as long. */
let prepared: string;
let preparedDirectories: readonly string[] = [];
let dataDir: string;
let directories: Set<string>;

function newDataDir(): string {
  const made = mkdtempSync(join(tmpdir(), 'gw-embedded-'));
  if (asRoot) chmodSync(made, 0o711);
  return made;
}

beforeAll(async () => {
  prepared = newDataDir();
  const { directory, stop } = await startEmbeddedPostgres(prepared, { disposable: true });
  await stop();
  preparedDirectories = [prepared, directory];
});

afterAll(() => {
  for (const directory of preparedDirectories) rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  dataDir = newDataDir();
  directories = new Set([dataDir]);
});

/** Adopts whatever the test left running, in order to stop it. */
afterEach(async () => {
  const homes = [...directories, join(dataDir, 'postgres')];
  if (homes.some((directory) => existsSync(postmasterFile({ directory })))) {
    const last = await startEmbeddedPostgres(dataDir, { disposable: true });
    await last.stop();
  }
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}, 60_000);

/** Gives the test a database. */
function copyPrepared(): void {
  execFileSync('cp', ['-a', `${prepared}/.`, dataDir]);
}

/** A separate process that starts, or adopts, the server of `dataDir`. */
async function startChild(durable?: 'durable'): Promise<Started> {
  const args = [CHILD, dataDir, durable ?? 'disposable'];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = await Promise.race([
    once(createInterface(child.stdout), 'line'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the process ended with ${code} before it named its server`);
    }),
  ]);
  const started: Omit<Started, 'process'> = JSON.parse(String(line));
  directories.add(started.directory);
  return { process: child, ...started };
}

async function stopChild(started: Started): Promise<void> {
  started.process.stdin?.write('stop\n');
  await once(started.process, 'exit');
}

async function killChild(started: Started): Promise<void> {
  started.process.kill('SIGKILL');
  await once(started.process, 'exit');
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

function postmasterFile(started: { directory: string }): string {
  return join(started.directory, 'data', 'postmaster.pid');
}

/** Where the service says its database is. */
function directoryIn(log: string): string {
  const [, directory] = /"directory":"([^"]+)"/.exec(log) ?? [];
  if (directory === undefined) throw new Error(`no database in ${log}`);
  return directory;
}

function serverPid(started: { directory: string }): number {
  return Number(readFileSync(postmasterFile(started), 'utf8').split('\n')[0]);
}

/** The processes that the server started, which end by themselves some time after it was killed. */
function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

function killServer(started: { directory: string }): Promise<void> {
  const pid = serverPid(started);
  process.kill(pid, 'SIGKILL');
  return eventually(() => !existsSync(`/proc/${pid}/exe`), { withinMs: 10_000 });
}

describe('embedded Postgres', () => {
  it('three processes start on one new directory at once → one server; it stops with its last user', async () => {
    const all = await Promise.all([startChild(), startChild(), startChild()]);
    expect(all.map((one) => one.adopted).sort()).toEqual([false, true, true]);
    expect(new Set(all.map((one) => one.url)).size).toBe(1);
    const [first, second, third] = all;
    if (!(first && second && third)) throw new Error('three were started');
    await stopChild(first);
    await killChild(second);
    expect(await query(third.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await stopChild(third);
    expect(existsSync(postmasterFile(third))).toBe(false);
  }, 60_000);

  it('the process is killed → the next start adopts the server, nothing is lost', async () => {
    copyPrepared();
    const killed = await startChild('durable');
    await query(killed.url, 'create table kept as select 7 as seven');
    await killChild(killed);
    const next = await startChild('durable');
    expect(next.adopted).toBe(true);
    expect(await query(next.url, 'select seven from kept')).toEqual([{ seven: 7 }]);
    await stopChild(next);
  }, 60_000);

  it('process and server are killed → the next start recovers every acknowledged row', async () => {
    copyPrepared();
    const killed = await startChild('durable');
    await query(killed.url, 'create table kept as select 7 as seven');
    await killChild(killed);
    await killServer(killed);
    const next = await startChild('durable');
    expect(next.adopted).toBe(false);
    expect(await query(next.url, 'select seven from kept')).toEqual([{ seven: 7 }]);
    await stopChild(next);
  }, 60_000);

  (process.platform === 'linux' ? it : it.skip)(
    'the killed server’s children outlive it for two seconds → the next start waits for them',
    async () => {
      copyPrepared();
      const killed = await startChild('durable');
      await query(killed.url, 'create table kept as select 7 as seven');
      const [child] = childrenOf(serverPid(killed));
      if (child === undefined) throw new Error('the server has no children');
      process.kill(child, 'SIGSTOP');
      await killChild(killed);
      await killServer(killed);
      setTimeout(() => process.kill(child, 'SIGCONT'), 2_000);
      const next = await startChild('durable');
      expect(next.adopted).toBe(false);
      expect(await query(next.url, 'select seven from kept')).toEqual([{ seven: 7 }]);
      await stopChild(next);
    },
    60_000,
  );

  it('the server is killed twice while its process runs → started again each time, on its port, with every row', async () => {
    copyPrepared();
    const started = await startChild('durable');
    await query(started.url, 'create table kept as select 7 as seven');
    for (let kills = 0; kills < 2; kills++) {
      await killServer(started);
      const rows = () => query(started.url, 'select seven from kept').catch(() => []);
      await eventually(async () => (await rows()).length === 1, { withinMs: 60_000 });
    }
    await stopChild(started);
    expect(existsSync(postmasterFile(started))).toBe(false);
  }, 120_000);

  it('the server is killed under calls of the service → ready again by itself, and each answered call is recorded', async () => {
    copyPrepared();
    const managementKey = newManagementKey();
    const baseUrl = `http://127.0.0.1:${await freePort()}`;
    const gateway = new GatewayProcess(baseUrl, {
      ...{ HOST: '127.0.0.1', DATA_DIR: dataDir, BOOTSTRAP_MANAGEMENT_KEY: managementKey, SIMULATED_PROVIDER: 'true' },
    });
    await gateway.start();
    const home = { directory: directoryIn(gateway.written) };
    directories.add(home.directory);
    const service = { baseUrl, managementKey };
    await created(service, '/v1/admin/providers', {
      ...{ type: 'simulated', name: 'Simulated', secret: 'no-key-is-needed' },
      pricing: { 'simulated-1': { input: 0.5, output: 2 } },
    });
    const config = { authentication: { type: 'api_key' }, routing: { providers: { mode: 'all' }, model_rewrites: {} } };
    const { app, api_key } = await created(service, '/v1/admin/apps', { name: 'Killed', config });
    let answered = 0;
    let isOver = false;
    const calling = (async () => {
      while (!isOver) {
        const answer = await fetch(`${baseUrl}/v1/apps/${app.id}/proxy/simulated/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${api_key.key}`, 'content-type': 'application/json' },
          body: '{"model":"simulated-1","messages":[{"role":"user","content":"Hello"}]}',
        });
        await answer.text();
        if (answer.status === 200) answered++;
      }
    })();
    await eventually(() => answered >= 5, { withinMs: 20_000 });
    await killServer(home);
    const isStartedAgain = () => gateway.written.split('"database_embedded_started"').length === 3;
    const isServing = async () => (await fetch(`${baseUrl}/v1/readyz`)).status === 200;
    await eventually(async () => isStartedAgain() && (await isServing()), { withinMs: 60_000 });
    const before = answered;
    await eventually(() => answered >= before + 5, { withinMs: 20_000 });
    isOver = true;
    await calling;
    await gateway.stop();
    expect(gateway.written).toContain('database_embedded_lost');
    const { url, stop } = await startEmbeddedPostgres(dataDir);
    const rows = await query(url.reveal(), "select count(*)::integer as calls from usage_events where status = 'ok'");
    await stop();
    expect(rows).toEqual([{ calls: answered }]);
  }, 120_000);

  it('the process id of a dead server now belongs to another program → still starts', async () => {
    copyPrepared();
    const killed = await startChild();
    await killChild(killed);
    await killServer(killed);
    const bystander = spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], {
      uid: asRoot ? statSync(join(killed.directory, 'data')).uid : undefined,
      stdio: 'ignore',
    });
    const left = readFileSync(postmasterFile(killed), 'utf8');
    writeFileSync(postmasterFile(killed), left.replace(/^\d+/, String(bystander.pid)));
    const next = await startChild();
    bystander.kill();
    expect(next.adopted).toBe(false);
    await stopChild(next);
  }, 60_000);

  it('creation was interrupted → starts again', async () => {
    copyPrepared();
    const started = await startChild();
    await stopChild(started);
    const cluster = join(started.directory, 'data');
    renameSync(cluster, `${cluster}.new`);
    rmSync(join(`${cluster}.new`, 'global'), { recursive: true });
    const again = await startChild();
    expect(await query(again.url, 'select current_database() as name')).toEqual([{ name: 'gateway' }]);
    await stopChild(again);
  }, 60_000);

  it('files: password and log → readable by the owner only; cluster → not run as root; no password left', async () => {
    const { directory, ...server } = await startEmbeddedPostgres(prepared, { disposable: true });
    expect(statSync(join(directory, 'password')).mode & 0o777).toBe(0o600);
    expect(statSync(join(directory, 'postgres.log')).mode & 0o077).toBe(0);
    expect(statSync(join(directory, 'data')).mode & 0o077).toBe(0);
    expect(statSync(join(directory, 'data')).uid === 0).toBe(false);
    expect(readdirSync(directory).filter((name) => name.startsWith('password'))).toEqual(['password']);
    expect(`${server.url}`).toBe('[secret]');
    await server.stop();
    await server.stop();
  }, 60_000);

  (asRoot ? it : it.skip)(
    'root, data directory out of the server account’s reach → the database is under /var/lib/gateway, and stays there',
    async () => {
      chmodSync(dataDir, 0o700);
      const apart = await startChild();
      expect(apart.directory).toMatch(/^\/var\/lib\/gateway\/[0-9a-f]{16}$/);
      await stopChild(apart);
      chmodSync(dataDir, 0o711);
      const later = await startChild();
      expect(later.directory).toBe(apart.directory);
      await stopChild(later);
    },
    60_000,
  );
});
