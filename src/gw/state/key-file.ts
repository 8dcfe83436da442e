import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { EXIT, Failure } from '../program/failure.js';

const OWNER_ONLY = 0o600;

/** A new file for a key that is about to be made: that it can be written is known before the key exists. */
export class KeyFile {
  private constructor(
    private readonly path: string,
    /** Set while the name of the file is not known. */
    private readonly folder: string | undefined,
    private readonly descriptor: number,
  ) {}

  /**
   * @param target a file that is not there, or a folder.
   * @param name of the file in a folder; undefined: told by `save`.
   * @throws Failure the file is there, or cannot be made.
   */
  static reserve(target: string, name: string | undefined): KeyFile {
    const isFolder = target.endsWith(sep) || isFolderNow(target);
    const path = isFolder ? join(target, name === undefined ? `.new-${process.pid}.key` : `${name}.key`) : target;
    try {
      if (isFolder) mkdirSync(target, { recursive: true, mode: 0o700 });
      const isNameless = isFolder && name === undefined;
      return new KeyFile(path, isNameless ? target : undefined, openSync(path, 'wx', OWNER_ONLY));
    } catch (error) {
      throw unwritable(path, error);
    }
  }

  /** Writes the key. @param name of the file, where none was reserved. @returns the path. @throws Failure */
  save(key: string, name: string): string {
    try {
      writeSync(this.descriptor, `${key}\n`);
      fsyncSync(this.descriptor);
      closeSync(this.descriptor);
      if (this.folder === undefined) return resolve(this.path);
      const path = join(this.folder, `${name}.key`);
      linkSync(this.path, path);
      rmSync(this.path);
      return resolve(path);
    } catch (error) {
      throw unwritable(this.path, error);
    }
  }

  /** No key was made. */
  discard(): void {
    closeSync(this.descriptor);
    rmSync(this.path, { force: true });
  }
}

function isFolderNow(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function unwritable(path: string, error: unknown): Failure {
  if (error instanceof Error && 'code' in error && error.code === 'EEXIST') {
    const nextAction = 'Give another file to --key-output, or move that one away.';
    return Failure.input('key_file_exists', `${path} is there; a key never replaces a file.`, { nextAction });
  }
  const reason = error instanceof Error ? error.message : String(error);
  const nextAction = 'Give a file in a folder that you can write to --key-output.';
  return new Failure(EXIT.input, 'key_file_unwritable', `The key cannot be written: ${reason}`, { nextAction });
}
