import type { Segment } from './segment-log.js';

/** One admitted request in the journal. Only the journal looks inside; everybody else hands it back. */
export class JournalEntry {
  /** The JSON of the line written last or waiting to be written; empty once it stays on the disk alone. */
  json: string;
  admittedIn: Segment;
  settled = false;
  stored = false;
  settledIn: Segment | undefined;
  /** Place of the settled JSON in `settledIn`, in bytes; a length of 0 means that `json` holds it. */
  settledAt = 0;
  settledBytes = 0;

  constructor(json: string, admittedIn: Segment) {
    this.json = json;
    this.admittedIn = admittedIn;
  }
}

/**
 * Lets go of the settled JSON of entries that were just written, one line each without a gap.
 *
 * @param firstByte where the first of their lines begins in its segment.
 */
export function leaveOnDisk(settled: readonly JournalEntry[], firstByte: number): void {
  let lineAt = firstByte;
  for (const entry of settled) {
    entry.settledAt = lineAt + 1;
    entry.settledBytes = Buffer.byteLength(entry.json);
    lineAt += entry.settledBytes + 2;
    entry.json = '';
  }
}
