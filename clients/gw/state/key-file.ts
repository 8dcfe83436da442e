import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { Failure } from '../program/failure.js';

const OWNER_ONLY = 0o600;

/** A place for a key about to be created: it is known to be writable before the key exists. */
export class KeyFile {
  private readonly clear = () => rmSync(this.reservation, { force: true });

  private constructor(
    private readonly folder: string,
    /** Undefined while unknown. */
    private readonly name: string | undefined,
    /** An empty file next to it, so that a killed process leaves no file that a repeat would refuse. */
    private readonly reservation: string,
  ) {
    process.once('exit', this.clear);
  }

  /**
   * @param target a file that is not there, or a folder.
   * @param name of the file in a folder; undefined: told by `save`.
   * @throws Failure the file is there, or cannot be made.
   */
  static reserve(target: string, name: string | undefined): KeyFile {
    const isFolder = target.endsWith(sep) || (statSync(target, { throwIfNoEntry: false })?.isDirectory() ?? false);
    const folder = isFolder ? target : dirname(target);
    const fileName = isFolder ? name && `${name}.key` : basename(target);
    if (fileName !== undefined && existsSync(join(folder, fileName))) throw taken(join(folder, fileName));
    const reservation = join(folder, `.gw-${process.pid}.key`);
    try {
      if (isFolder) mkdirSync(folder, { recursive: true, mode: 0o700 });
      closeSync(openSync(reservation, 'wx', OWNER_ONLY));
    } catch (error) {
      throw unwritable(error);
    }
    return new KeyFile(folder, fileName, reservation);
  }

  /** Writes the key. @param name of the file, where none was reserved. @returns the path. @throws Failure */
  save(key: string, name: string): string {
    const path = join(this.folder, this.name ?? `${name}.key`);
    try {
      const descriptor = openSync(path, 'wx', OWNER_ONLY);
      writeSync(descriptor, `${key}\n`);
      fsyncSync(descriptor);
      closeSync(descriptor);
    } catch (error) {
      throw error instanceof Error && 'code' in error && error.code === 'EEXIST' ? taken(path) : unwritable(error);
    }
    this.discard();
    return resolve(path);
  }

  /** The place is no longer needed. */
  discard(): void {
    process.off('exit', this.clear);
    this.clear();
  }
}

function taken(path: string): Failure {
  const nextAction = 'Give another file to --key-output, or move the existing one.';
  return Failure.input('key_file_exists', `${path} exists; a key never replaces a file.`, { nextAction });
}

function unwritable(error: unknown): Failure {
  const reason = error instanceof Error ? error.message : String(error);
  const nextAction = 'Give a file in a folder that you can write to --key-output.';
  return Failure.input('key_file_unwritable', `The key cannot be written: ${reason}`, { nextAction });
}
