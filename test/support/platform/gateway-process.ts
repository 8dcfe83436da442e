import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { engineOptions } from '../../../src/bootstrap/engine-options.rules.js';

const MAIN = fileURLToPath(new URL('../../../dist/server/main.js', import.meta.url));
const START_PATIENCE_MS = 60_000;
/** Written to standard error once the service listens, whatever its log level. */
const READY = 'The gateway is ready';
const KEPT_CHARACTERS = 1_000_000;

/**
 * What a program of the service is started with: the settings, and of this process only what says where programs and
 * their compiled code are.
 */
export function programEnvironment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { ...settings, PATH, NODE_COMPILE_CACHE };
}

/** The built service, or another program that is it, as a separate process, for tests that kill it. */
export class GatewayProcess {
  private child: ChildProcess | undefined;
  private output = '';

  constructor(
    readonly baseUrl: string,
    private readonly environment: Readonly<Record<string, string>>,
    private readonly program = MAIN,
  ) {}

  /** Of the most recent process. */
  get pid(): number {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error('it was never started');
    return pid;
  }

  /** Returns when it serves; fails with its last output when it ends instead. */
  async start(): Promise<void> {
    this.output = '';
    const child = spawn(process.execPath, [...engineOptions(process.versions.node), this.program], {
      env: programEnvironment({ ...this.environment, PORT: new URL(this.baseUrl).port }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    const ready = Promise.withResolvers<void>();
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes) => {
        this.output = (this.output + bytes).slice(-KEPT_CHARACTERS);
        if (stream === child.stderr && this.output.includes(READY)) ready.resolve();
      });
    }
    const failed = () => ready.reject(new Error(`did not start:\n${this.output.slice(-4_000)}`));
    const patience = setTimeout(failed, START_PATIENCE_MS);
    child.once('close', failed);
    await ready.promise.finally(() => clearTimeout(patience));
  }

  /** What it has written, the last of it. */
  get written(): string {
    return this.output;
  }

  /** Sends it a signal that does not end it. */
  signal(signal: NodeJS.Signals): void {
    this.child?.kill(signal);
  }

  /** Waits until it ends by itself. @returns its exit code; null when a signal ended it. */
  async ended(): Promise<number | null> {
    const { child } = this;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return child?.exitCode ?? null;
  }

  /** Kills it; returns when the process has ended. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** Lets it finish and waits for its end. */
  async stop(): Promise<void> {
    await this.end('SIGTERM');
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

/** Below the ports that systems hand out by themselves: nobody takes one of these between its choice and its use. */
const FIRST_PORT = 10_000;
const PORTS_OF_WORKER = 1_300;
const MOST_WORKERS = 16;
let portsChosen = Math.floor(Math.random() * PORTS_OF_WORKER);

/** A loopback port that is free, and that no other worker of the run chooses. */
export async function freePort(): Promise<number> {
  const worker = Number(process.env.JEST_WORKER_ID ?? 0) % MOST_WORKERS;
  for (let tries = 0; tries < PORTS_OF_WORKER; tries++) {
    const port = FIRST_PORT + worker * PORTS_OF_WORKER + (portsChosen++ % PORTS_OF_WORKER);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
  throw new Error('no port');
}
