import type { Segment } from './segment-log.js';

/** One admitted request in the journal. Opaque outside the journal. */
export class JournalEntry {
  /** The JSON of the line written last or not yet written; empty once only the disk holds it. */
  json: string;
  admittedIn: Segment;
  settled = false;
  stored = false;
  settledIn: Segment | undefined;
  /** Offset of the settled JSON in `settledIn`, in bytes; a length of 0 means that `json` holds it. */
  settledAt = 0;
  settledBytes = 0;

  constructor(json: string, admittedIn: Segment) {
    this.json = json;
    this.admittedIn = admittedIn;
  }
}

/**
 * Frees the settled JSON of entries that were just written, one line each, contiguously.
 *
 * @param firstByte offset of their first line in its segment.
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
