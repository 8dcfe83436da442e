import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programEnvironment } from '../platform/gateway-process.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const STRICT = ['-eu', '-o', 'pipefail', '-c'];
/** A status of 400 and above ends curl with an error; what it prints ends with its line. */
const CURL_SETTINGS = 'fail-with-body\nwrite-out = "\\n"\n';

interface Outcome {
  readonly exitCode: number | null;
  /** Standard output and standard error, as a terminal shows them. */
  readonly output: string;
}

/** A terminal of a reader: each block runs as it is printed, and what it exports stays for the next one. */
export class GuideShell {
  /** Where blocks run: they find the packages of this repository, and what they write goes with it. */
  readonly directory = mkdtempSync(join(tmpdir(), 'gateway-guide-'));
  private variables: Record<string, string>;
  private service: ChildProcess | undefined;

  constructor(variables: Readonly<Record<string, string>> = {}) {
    symlinkSync(join(ROOT, 'node_modules'), join(this.directory, 'node_modules'));
    writeFileSync(join(this.directory, '.curlrc'), CURL_SETTINGS);
    this.variables = { HOME: this.directory, ...variables };
  }

  /** The value of an exported variable. */
  get(name: string): string {
    const value = this.variables[name];
    if (value === undefined) throw new Error(`${name} is not exported`);
    return value;
  }

  export(variables: Readonly<Record<string, string>>): void {
    this.variables = { ...this.variables, ...variables };
  }

  /** Runs a block to its end. */
  async run(text: string): Promise<Outcome> {
    const exported = join(this.directory, '.exported');
    const child = spawn('bash', [...STRICT, `${text}\nenv -0 > '${exported}'`], {
      cwd: this.directory,
      env: programEnvironment(this.variables),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const output = collected(child);
    const [exitCode] = await once(child, 'close');
    if (exitCode === 0) this.variables = parsed(readFileSync(exported, 'utf8'));
    return { exitCode, output: output() };
  }

  /**
   * Runs a block that starts the gateway, in the root of the repository, and leaves it running.
   *
   * @returns what it has written so far.
   */
  serve(text: string, settings: Readonly<Record<string, string>>): () => string {
    const child = spawn('bash', [...STRICT, text], {
      cwd: ROOT,
      env: programEnvironment({ ...this.variables, ...settings }),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    this.service = child;
    return collected(child);
  }

  /** As Ctrl-C does: ends every process of the gateway that {@link serve} has started. */
  async stop(): Promise<void> {
    const { service } = this;
    if (service?.pid !== undefined && service.exitCode === null) {
      const closed = once(service, 'close');
      process.kill(-service.pid, 'SIGINT');
      await closed;
    }
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function collected(child: ChildProcess): () => string {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  return () => output;
}

function parsed(environment: string): Record<string, string> {
  return Object.fromEntries(
    environment
      .split('\0')
      .filter((entry) => entry.includes('='))
      .map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}
