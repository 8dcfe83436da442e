import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../../../dist/gw/gw.js');

/** What a run left behind. */
export interface GwRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The document that `--json` prints; undefined when standard output is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of a document whose shape it asserts
  readonly json: any;
}

/** The built program as a process, with a home of its own. */
export class Gw {
  readonly home = mkdtempSync(join(tmpdir(), 'gw-home-'));

  /** @param environment of every run, besides a state folder in this home. */
  constructor(private readonly environment: Readonly<Record<string, string>> = {}) {}

  get stateFolder(): string {
    return join(this.home, 'gw');
  }

  /** @param told called with what comes on standard error, as it comes. */
  run(
    line: string,
    input = '',
    environment: Readonly<Record<string, string>> = {},
    told: (text: string) => void = () => undefined,
  ): Promise<GwRun> {
    const child = spawn(process.execPath, [PROGRAM, ...line.split(' ').filter((word) => word !== '')], {
      env: { HOME: this.home, XDG_STATE_HOME: this.home, PATH: '', ...this.environment, ...environment },
    });
    const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      return () => Buffer.concat(chunks).toString('utf8');
    }) as [() => string, () => string];
    child.stderr.on('data', (chunk: Buffer) => told(chunk.toString('utf8')));
    // A program that does not read its input ends before it is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (exitCode) => {
        resolve({ exitCode, stdout: stdout(), stderr: stderr(), json: parsed(stdout()) });
      });
    });
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
