import { close, closeSync, fdatasync, fsync, open, openSync, readSync, unlink, writeSync } from 'node:fs';
import { errorCode } from '../../common/errors/error-code.js';

/** Tells how an operation in the background ended. */
type Done = (error: Error | null) => void;

/** The few things the journal does to files while the service runs, so that a test can fill or break the disk. */
export interface JournalFiles {
  /** Makes a file that did not exist, readable by its owner alone; every write goes to its end. */
  create(file: string): number;
  /** Returns how many bytes of the text in UTF-8 were taken; fewer than it has means that the disk is full. */
  write(descriptor: number, text: string): number;
  /** `length` bytes from `offset` on, or fewer where the file ends. */
  read(file: string, offset: number, length: number): Buffer;
  /** Forces what was written to the disk, without holding up the caller. */
  sync(descriptor: number, done: Done): void;
  /** Forces to the disk which files a directory has. */
  syncDirectory(directory: string, done: Done): void;
  close(descriptor: number): void;
  remove(file: string, done: Done): void;
}

/** The file system of the machine. */
export const SYSTEM_FILES: JournalFiles = {
  create: (file) => openSync(file, 'ax', 0o600),
  write: (descriptor, text) => writeSync(descriptor, text),
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

/** A file system that cannot do that for directories says so with `EINVAL`; there is nothing to do there. */
function syncDirectory(directory: string, done: Done): void {
  open(directory, 'r', (unopened, descriptor) => {
    if (unopened) {
      done(unopened);
      return;
    }
    fsync(descriptor, (error) => {
      close(descriptor, () => done(error && errorCode(error) === 'EINVAL' ? null : error));
    });
  });
}
