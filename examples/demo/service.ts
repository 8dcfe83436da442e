import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { engineOptions } from '../../src/bootstrap/engine-options.rules.js';

const MAIN = fileURLToPath(new URL('../../dist/server/main.js', import.meta.url));
const STOP_GRACE_MS = 15_000;
/** The environment that a program needs; settings of a real gateway must not affect the demo. */
const INHERITED_VARIABLES = ['PATH', 'NODE_COMPILE_CACHE', 'TMPDIR', 'TEMP', 'LANG', 'SystemRoot'];

/** One line of the service's log. */
type LogLine = Readonly<Record<string, unknown>>;

/** The real service as a separate process, with a temporary data directory. */
export interface Service {
  readonly dataDir: string;
  readonly managementKey: string;
  /** Resolves with its address once it responds; rejects if it ends first. */
  readonly url: Promise<string>;
  /** Resolves when the process has ended, for any reason. */
  readonly ended: Promise<void>;
  /** The lines of this name so far. */
  log(message: string): readonly LogLine[];
  /** Runs a script of the project to its end, next to the service. */
  run(script: string, args: readonly string[]): Promise<void>;
  /** Stops it and removes everything it wrote. Safe at any time. */
  stop(): Promise<void>;
}

/**
 * Starts the service; `url` says when it is ready.
 *
 * @param settings in addition to those every demo needs.
 */
export async function launchService(settings: Readonly<Record<string, string>> = {}): Promise<Service> {
  const port = await freePort();
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-demo-'));
  // If started by root, the embedded database runs under another account, which needs access to this directory.
  if (process.getuid?.() === 0) chmodSync(dataDir, 0o711);
  const managementKey = `gw_mgmt_${randomBytes(24).toString('hex')}`;
  const child = spawn(process.execPath, [...engineOptions(process.versions.node), MAIN], {
    env: { ...environment({ port, dataDir, managementKey }), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close').then(() => undefined);
  const lines: LogLine[] = [];
  const helpers = new Set<ChildProcess>();
  const log = (message: string) => lines.filter((line) => line.message === message);
  return {
    dataDir,
    managementKey,
    url: firstUrl(child, lines),
    ended,
    log,
    async run(script, args) {
      const helper = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'pipe'] });
      helpers.add(helper);
      await succeed(helper);
      helpers.delete(helper);
    },
    async stop() {
      for (const helper of helpers) {
        helper.kill('SIGKILL');
        if (helper.exitCode === null && helper.signalCode === null) await once(helper, 'close');
      }
      await end(child, ended);
      for (const { directory } of log('database_embedded_started')) {
        if (typeof directory === 'string') rmSync(directory, { recursive: true, force: true });
      }
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function succeed(helper: ChildProcess): Promise<void> {
  let complaints = '';
  helper.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  const [code]: unknown[] = await once(helper, 'close');
  if (code !== 0) throw new Error(`A script ended with ${code}.\n${complaints}`);
}

interface Settings {
  readonly port: number;
  readonly dataDir: string;
  readonly managementKey: string;
}

function environment({ port, dataDir, managementKey }: Settings): Record<string, string> {
  const inherited = INHERITED_VARIABLES.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return {
    ...Object.fromEntries(inherited),
    HOST: '127.0.0.1',
    PORT: String(port),
    DATA_DIR: dataDir,
    BOOTSTRAP_MANAGEMENT_KEY: managementKey,
    TRUSTED_PRIVATE_HOSTS: '127.0.0.1',
    STOP_DELAY_SECONDS: '0',
    DRAIN_TIMEOUT_SECONDS: '2',
  };
}

/** Collects the log from here on. */
function firstUrl(child: ChildProcess, lines: LogLine[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  if (child.stdout) {
    createInterface(child.stdout).on('line', (text) => {
      const line: LogLine = JSON.parse(text);
      lines.push(line);
      if (line.message === 'gateway_started') resolve(String(line.url));
    });
  }
  child.once('error', reject);
  child.once('close', (code) => reject(new Error(`The service ended (${code}).\n${complaints}`)));
  // The demo may be interrupted before anything awaits it.
  promise.catch(() => undefined);
  return promise;
}

async function end(child: ChildProcess, ended: Promise<void>): Promise<void> {
  const lastResort = setTimeout(() => child.kill('SIGKILL'), STOP_GRACE_MS);
  child.kill('SIGTERM');
  await ended;
  clearTimeout(lastResort);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}
