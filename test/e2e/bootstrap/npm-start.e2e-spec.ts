import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { created } from '../../support/accounts/management-call.js';
import { eventually } from '../../support/eventually.js';
import { dropDatabase, freshDatabase } from '../../support/platform/database.js';
import { programEnvironment } from '../../support/platform/gateway-process.js';
import { type ScriptedUpstream, startUpstream } from '../../support/proxy/upstream.js';
import { event, hold } from '../../support/proxy/upstream-scripts.js';
import { newManagementKey, testEnvironment } from '../../support/world.js';

const REPOSITORY = fileURLToPath(new URL('../../../', import.meta.url));
const PATIENCE_MS = 120_000;
const STARTED = { withinMs: 60_000 };
const managementKey = newManagementKey();

let directory: string;
let npm: Npm;

/** `npm start` as a group of processes of its own, as a terminal starts it. */
class Npm {
  output = '';
  readonly ended: Promise<[code: number | null, signal: NodeJS.Signals | null]>;
  private readonly child: ChildProcess;

  constructor(settings: Readonly<Record<string, string>>, cwd = REPOSITORY) {
    const own = { npm_config_cache: join(directory, 'npm'), npm_config_update_notifier: 'false' };
    this.child = spawn('npm', ['start'], {
      cwd,
      env: programEnvironment({ ...settings, ...own }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.child.stdout, this.child.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        this.output += bytes;
      });
    }
    this.ended = once(this.child, 'exit').then(([code, signal]) => [code, signal]);
  }

  /** Waits for this text in the output. */
  async says(text: string): Promise<void> {
    await eventually(() => {
      if (this.output.includes(text)) return true;
      if (this.child.exitCode !== null || this.child.signalCode !== null) throw new Error(`ended:\n${this.output}`);
      return false;
    }, STARTED);
  }

  get url(): string {
    return /"message":"gateway_started".*?"url":"([^"]+)"/.exec(this.output)?.[1] ?? '';
  }

  /** Only to npm, as a supervisor does. */
  signal(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** To every process of the group, as a terminal does; npm forwards it as well. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-this.groupId, signal);
  }

  /** Whether any process of the group is left. */
  get isLeft(): boolean {
    try {
      return process.kill(-this.groupId, 0);
    } catch {
      return false;
    }
  }

  private get groupId(): number {
    if (this.child.pid === undefined) throw new Error('npm was not started');
    return this.child.pid;
  }
}

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'gateway-npm-start-'));
});

afterEach(async () => {
  if (npm.isLeft) npm.signalGroup('SIGKILL');
  await npm.ended;
  rmSync(directory, { recursive: true, force: true });
});

describe('npm start, while the gateway runs', () => {
  let databaseUrl: string;
  let upstream: ScriptedUpstream;
  const first = event({ choices: [{ index: 0, delta: { content: 'first' } }] });
  const last = event('[DONE]');
  const answer = hold(first);

  beforeEach(async () => {
    databaseUrl = await freshDatabase();
    upstream = await startUpstream({ script: answer.script });
    const settings = testEnvironment(databaseUrl, join(directory, 'data'), managementKey);
    npm = new Npm({ ...settings, DRAIN_TIMEOUT_SECONDS: '30' });
    await npm.says('The gateway is ready');
  });

  afterEach(async () => {
    await upstream.close();
    await dropDatabase(databaseUrl);
  });

  async function call(): Promise<Response> {
    const service = { baseUrl: npm.url, managementKey };
    const provider = { type: 'openai', name: 'P', slug: 'p', secret: 'sk-npm-start-test', baseUrl: `${upstream.url}/` };
    await created(service, '/v1/admin/providers', provider);
    const { app, api_key: key } = await created(service, '/v1/admin/apps', {
      name: 'A',
      config: {
        authentication: { type: 'api_key' },
        routing: { providers: { mode: 'all' }, model_rewrites: {} },
      },
    });
    return fetch(`${npm.url}/v1/apps/${app.id}/proxy/p/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4.1', stream: true, messages: [{ role: 'user', content: 'Hello.' }] }),
    });
  }

  async function expectDrained(stream: Response): Promise<void> {
    await npm.says('"gateway_stopping"');
    expect(npm.isLeft).toBe(true);
    answer.release(last);
    expect(await stream.text()).toBe(first + last);
    expect([await npm.ended, npm.output]).toEqual([[0, null], expect.stringContaining('"gateway_stopped"')]);
    expect(npm.isLeft).toBe(false);
    await expect(fetch(npm.url)).rejects.toThrow();
  }

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s to npm → the open answer is complete, exit code 0, no process is left',
    async (signal) => {
      const stream = await call();
      expect(npm.output).not.toContain('engine_options_missing');
      npm.signal(signal);
      await expectDrained(stream);
    },
    PATIENCE_MS,
  );

  it(
    'Ctrl-C, which the terminal sends to each process and npm forwards → the same: it counts as one request',
    async () => {
      const stream = await call();
      npm.signalGroup('SIGINT');
      await expectDrained(stream);
    },
    PATIENCE_MS,
  );

  it(
    'another signal, later → ends at once, with the signal, and no process is left',
    async () => {
      const stream = await call();
      npm.signal('SIGTERM');
      await npm.says('"gateway_stopping"');
      // Signals within the first second count as one.
      const again = setInterval(() => npm.signal('SIGTERM'), 100);
      try {
        expect(await npm.ended).toEqual([null, 'SIGTERM']);
      } finally {
        clearInterval(again);
      }
      expect(npm.isLeft).toBe(false);
      await expect(stream.text()).rejects.toThrow();
    },
    PATIENCE_MS,
  );
});

describe('npm start, before the gateway runs', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    '%s to npm while it builds → the build ends, no process is left, the next start builds and runs',
    async (signal) => {
      layOutProject();
      npm = new Npm({}, directory);
      await npm.says('Compiling the service...');
      npm.signal(signal);
      expect(await npm.ended).toEqual([null, signal]);
      expect(npm.isLeft).toBe(false);
      expect(npm.output).not.toContain('It runs');
      expect(existsSync(join(directory, 'dist/.build.json'))).toBe(false);

      npm = new Npm({}, directory);
      expect([await npm.ended, npm.output]).toEqual([[0, null], expect.stringMatching(/Built in .*It runs/s)]);
      expect(npm.output).not.toContain('Another build');
    },
    PATIENCE_MS,
  );

  it(
    'SIGTERM to npm while the embedded database starts → stops once it has started, with exit code 0 and no Postgres left',
    async () => {
      const settings = testEnvironment('', join(directory, 'data'), managementKey);
      npm = new Npm({ ...settings, DATABASE_URL: '' });
      await npm.says('"database_embedded_started"');
      npm.signal('SIGTERM');
      expect([await npm.ended, npm.output]).toEqual([[0, null], expect.stringContaining('"gateway_stopped"')]);
      expect(npm.isLeft).toBe(false);
      const database = /"directory":"([^"]+)"/.exec(npm.output)?.[1] ?? '';
      expect(existsSync(join(database, 'data/postmaster.pid'))).toBe(false);
      rmSync(database, { recursive: true, force: true });
    },
    PATIENCE_MS,
  );
});

/** A project whose build compiles for a moment and which starts as this one does. */
function layOutProject(): void {
  for (const name of ['src', 'migrations', 'node_modules', 'tools']) mkdirSync(join(directory, name));
  for (const name of ['tools/build.mjs', 'tsconfig.build.json', 'tsconfig.json'])
    copyFileSync(join(REPOSITORY, name), join(directory, name));
  for (const name of ['typescript', 'rolldown', '@jridgewell', '@types', 'undici-types'])
    symlinkSync(join(REPOSITORY, 'node_modules', name), join(directory, 'node_modules', name));
  const { engines, scripts } = JSON.parse(readFileSync(join(REPOSITORY, 'package.json'), 'utf8'));
  const manifest = { type: 'module', engines, scripts: { start: scripts.start } };
  writeFileSync(join(directory, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(directory, 'node_modules/.package-lock.json'), '{}');
  writeFileSync(join(directory, 'src/main.ts'), "process.stdout.write('It runs');\n");
  const options = 'src/bootstrap/engine-options.rules.ts';
  mkdirSync(join(directory, 'src/bootstrap'));
  copyFileSync(join(REPOSITORY, options), join(directory, options));
}
