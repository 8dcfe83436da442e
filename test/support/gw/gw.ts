import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { PROGRAM, PtySession } from './pty.js';

const SCHEMA = JSON.parse(readFileSync(join(import.meta.dirname, '../../../docs/schemas/gw.schema.json'), 'utf8'));
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true }).addSchema(SCHEMA, 'gw');

/** The result of a run. */
export interface GwRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The document that `--json` prints; undefined if standard output is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads members of a document whose shape it asserts
  readonly json: any;
}

/** Processes that run lines of this suite one after another; each ends with the suite. */
const hosts = new Set<ChildProcess>();
const idleHosts: ChildProcess[] = [];
afterAll(() => {
  for (const host of hosts) host.disconnect();
});

/** The built program, with its own home. */
export class Gw {
  readonly home = mkdtempSync(join(tmpdir(), 'gw-home-'));

  /** @param environment of every run, besides a state folder in this home. */
  constructor(private readonly environment: Readonly<Record<string, string>> = {}) {}

  get stateFolder(): string {
    return join(this.home, 'gw');
  }

  /** Runs a line on a separate terminal. */
  onTerminal(line: string, environment: Readonly<Record<string, string>> = {}): PtySession {
    return new PtySession(line.split(' '), this.home, { TERM: 'xterm', ...this.environmentOf(environment) });
  }

  /** Runs a line in a process that runs others before and after it; see `gw-host.mjs`. */
  async run(
    line: string | readonly string[],
    input = '',
    environment: Readonly<Record<string, string>> = {},
  ): Promise<GwRun> {
    const words = wordsOf(line);
    const host = idleHosts.pop() ?? newHost();
    host.send({ words, cwd: this.home, env: this.environmentOf(environment), input });
    const [run] = await Promise.race([once(host, 'message'), once(host, 'exit')]);
    if (typeof run !== 'object') throw new Error(`gw ${words.join(' ')} ended its process with ${run}`);
    idleHosts.push(host);
    return readable(words, run);
  }

  /**
   * Runs a line as a separate process, for what only a process has: signals, and output as it comes.
   *
   * @param told called with what comes on standard error, as it comes.
   */
  async runAsProcess(
    line: string | readonly string[],
    input = '',
    environment: Readonly<Record<string, string>> = {},
    told: (text: string) => void = () => undefined,
  ): Promise<GwRun> {
    const words = wordsOf(line);
    const child = spawn(process.execPath, [PROGRAM, ...words], {
      cwd: this.home,
      env: this.environmentOf(environment),
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
    const exitCode = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return readable(words, { exitCode, stdout: stdout(), stderr: stderr() });
  }

  remove(): void {
    rmSync(this.home, { recursive: true, force: true });
  }

  private environmentOf(own: Readonly<Record<string, string>>): Record<string, string> {
    return { HOME: this.home, XDG_STATE_HOME: this.home, PATH: '', ...this.environment, ...own };
  }
}

const wordsOf = (line: string | readonly string[]) =>
  typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;

function newHost(): ChildProcess {
  const host = fork(join(import.meta.dirname, 'gw-host.mjs'));
  hosts.add(host);
  return host;
}

/** @throws the output of `--json` does not match the published schema. */
function readable(words: readonly string[], run: Omit<GwRun, 'json'>): GwRun {
  if (words.includes('--json')) for (const document of documentsIn(run.stdout)) requirePublished(words, document);
  return { ...run, json: parsed(run.stdout) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** One document, or one for each line. */
const documentsIn = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map(parsed);

/** Options that may stand before the words of a command. */
const GLOBAL = /^--(?:json|no-input|profile(?:=.*)?)$/;

/** @throws a document is not what the published schema of its command says. */
function requirePublished(words: readonly string[], document: unknown): void {
  const own = words.filter((word, at) => !GLOBAL.test(word) && words[at - 1] !== '--profile');
  const names = [3, 2, 1].map((count) => own.slice(0, count).join('-'));
  const command = names.find((name) => Object.hasOwn(SCHEMA.$defs, name));
  const name = Object(document).ok === true && command !== undefined ? command : 'failure';
  const validate = ajv.getSchema(`gw#/$defs/${name}`);
  if (validate === undefined || validate(document) === true) return;
  throw new Error(`${words.join(' ')}: ${ajv.errorsText(validate.errors)} in ${JSON.stringify(document)}`);
}
