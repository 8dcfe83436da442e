import { close, closeSync, fdatasync, fsync, open, openSync, readSync, unlink, writeSync } from 'node:fs';
import { systemErrorCode } from '../../common/errors/system-error-code.js';

/** Callback of a background operation. */
type Done = (error: Error | null) => void;

/** The file operations of the journal at run time; tests replace them to fill or break the disk. */
export interface JournalFiles {
  /** Creates a new file with mode 0600, opened for appending. */
  create(file: string): number;
  /** Returns how many bytes were written; fewer than given means that the disk is full. */
  write(descriptor: number, bytes: Buffer): number;
  /** Reads `length` bytes from `offset`, or fewer at the end of the file. */
  read(file: string, offset: number, length: number): Buffer;
  /** Syncs written data to disk in the background. */
  sync(descriptor: number, done: Done): void;
  /** Syncs the entries of a directory to disk. */
  syncDirectory(directory: string, done: Done): void;
  close(descriptor: number): void;
  remove(file: string, done: Done): void;
}

/** The file system of this machine. */
export const SYSTEM_FILES: JournalFiles = {
  create: (file) => openSync(file, 'ax', 0o600),
  write: (descriptor, bytes) => writeSync(descriptor, bytes),
  read: (file, offset, length) => {
    const descriptor = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(descriptor, bytes, 0, length, offset));
    } finally {
      closeSync(descriptor);
    }
  },
  sync: fdatasync,
  syncDirectory,
  close: closeSync,
  remove: unlink,
};

/** `EINVAL` means that the file system cannot sync directories; it is ignored. */
function syncDirectory(directory: string, done: Done): void {
  open(directory, 'r', (unopened, descriptor) => {
    if (unopened) {
      done(unopened);
      return;
    }
    fsync(descriptor, (error) => {
      close(descriptor, () => done(error && systemErrorCode(error) === 'EINVAL' ? null : error));
    });
  });
}
