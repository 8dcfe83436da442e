import { closeSync, fdatasync, openSync, readSync, unlink, writeSync } from 'node:fs';

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
  close: closeSync,
  remove: unlink,
};
