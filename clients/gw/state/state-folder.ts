import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Failure } from '../program/failure.js';

const OWNER_ONLY = 0o600;
const FOLDER_MODE = 0o700;

/** A folder of small files that only this person can read. */
export class StateFolder {
  constructor(private readonly folder: string) {}

  /** The text of a file; undefined without one. @throws Failure it cannot be read. */
  read(file: string): string | undefined {
    try {
      return readFileSync(join(this.folder, file), 'utf8');
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw this.unusable(error);
    }
  }

  /** The names of the files in a folder below; none without it. @throws Failure it cannot be read. */
  files(folder: string): readonly string[] {
    try {
      return readdirSync(join(this.folder, folder));
    } catch (error) {
      if (isMissing(error)) return [];
      throw this.unusable(error);
    }
  }

  /** Writes a file atomically: to a temporary file, then renamed. @throws Failure if it cannot be written. */
  write(file: string, text: string): void {
    const path = join(this.folder, file);
    const draft = `${path}.${process.pid}`;
    try {
      mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
      writeFileSync(draft, text, { mode: OWNER_ONLY, flag: 'wx' });
      renameSync(draft, path);
    } catch (error) {
      rmSync(draft, { force: true });
      throw this.unusable(error);
    }
  }

  /** @throws Failure if it exists and cannot be removed. */
  remove(file: string): void {
    try {
      rmSync(join(this.folder, file), { force: true });
    } catch (error) {
      throw this.unusable(error);
    }
  }

  /** The failure for a damaged file. @param advice what to do before it is removed. */
  damaged(file: string, advice: string): Failure {
    const path = join(this.folder, file);
    return Failure.state('state_damaged', `The file ${path} is damaged.`, {
      nextAction: `${advice} Then remove the file, and run the command again.`,
    });
  }

  private unusable(cause: unknown): Failure {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const nextAction = 'Make the folder writable, or name another one in XDG_STATE_HOME.';
    return Failure.state('state_unusable', `The state in ${this.folder} cannot be used: ${reason}`, { nextAction });
  }
}

const isMissing = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'ENOENT';
