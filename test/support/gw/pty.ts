import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { type IPty, spawn } from '@lydell/node-pty';

/** The built program. */
export const PROGRAM = join(import.meta.dirname, '../../../dist/gw/gw.js');

const PATIENCE_MS = 15_000;

/** What erases a line that is being replaced. */
const CLEAR_LINE = '\r\u001b[K';

/** The program on a separate terminal, and somebody who types. */
export class PtySession {
  private readonly pty: IPty;
  private raw = '';
  /** The exit code. */
  readonly ended: Promise<number>;

  /** @param command another program, such as a shell, and its first arguments. */
  constructor(
    words: readonly string[],
    cwd: string,
    env: Readonly<Record<string, string>>,
    [file, ...first]: readonly [string, ...string[]] = [process.execPath, PROGRAM],
  ) {
    this.pty = spawn(file, [...first, ...words], { cols: 100, rows: 40, cwd, env: { ...env } });
    this.pty.onData((data) => {
      this.raw += data;
    });
    this.ended = new Promise((resolve) => this.pty.onExit(({ exitCode }) => resolve(exitCode)));
  }

  /** The text on the screen, without control sequences. */
  get screen(): string {
    return stripVTControlCharacters(this.raw);
  }

  /** As `screen`, without lines that were cleared, as a progress line is. */
  get leftOnScreen(): string {
    const lines = this.raw.split('\n').map((line) => line.split(CLEAR_LINE).at(-1));
    return stripVTControlCharacters(lines.join('\n'));
  }

  /** The raw output, control sequences included. */
  get written(): string {
    return this.raw;
  }

  /** Waits until the screen shows a text. */
  async shows(text: string): Promise<void> {
    const until = performance.now() + PATIENCE_MS;
    while (!this.screen.includes(text)) {
      if (performance.now() > until) throw new Error(`"${text}" is not on the screen:\n${this.screen}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  type(keys: string): void {
    this.pty.write(keys);
  }

  /** Closes the terminal, as a window that is closed. */
  close(): void {
    this.pty.kill('SIGHUP');
  }
}
