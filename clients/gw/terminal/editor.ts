import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Failure } from '../program/failure.js';
import type { Invocation } from '../program/invocation.js';

/** A text in a file that only this person can read, for their editor. If unchanged, it is deleted with the process. */
export class EditedFile {
  readonly path: string;
  private readonly clear = () => {
    if (this.isUnchanged) this.remove();
  };

  /** @param name of the file; its ending tells the editor what it is. */
  constructor(
    name: string,
    private readonly original: string,
  ) {
    this.path = join(mkdtempSync(join(tmpdir(), 'gw-edit-')), name);
    writeFileSync(this.path, original, { mode: 0o600, flag: 'wx' });
    process.once('exit', this.clear);
  }

  /** Whether it has no changes to lose. */
  get isUnchanged(): boolean {
    try {
      return readFileSync(this.path, 'utf8') === this.original;
    } catch {
      return true;
    }
  }

  /** Opens the editor and waits until it ends. @throws Failure if it cannot be started, or fails. */
  async edit(gw: Invocation): Promise<void> {
    const { editor } = gw.environment;
    gw.terminal.tell(undefined);
    gw.isHandedOver = true;
    try {
      const isWindows = process.platform === 'win32';
      const [program, words] = isWindows
        ? [`${editor} "${this.path}"`, []]
        : // Ctrl-C is for the editor: the shell waits for it.
          ['/bin/sh', ['-c', `trap : INT; ${editor} "$1"`, 'gw', this.path]];
      // With --json standard output is only for the document.
      const child = spawn(program, words, { stdio: ['inherit', gw.isJson ? 2 : 1, 2], shell: isWindows });
      const [code, signal] = await once(child, 'exit');
      if (code !== 0) throw failed(editor, signal === null ? `exited with ${code}` : `was ended by ${signal}`);
    } catch (error) {
      throw error instanceof Failure ? error : failed(editor, `cannot be started: ${error}`);
    } finally {
      gw.isHandedOver = false;
    }
  }

  remove(): void {
    process.off('exit', this.clear);
    rmSync(dirname(this.path), { recursive: true, force: true });
  }
}

function failed(editor: string, how: string): Failure {
  const nextAction = 'Set EDITOR to the command of your editor, such as: code --wait';
  return Failure.input('editor_failed', `The editor "${editor}" ${how}. Nothing was changed.`, { nextAction });
}
