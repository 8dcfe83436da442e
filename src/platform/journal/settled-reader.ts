import type { JournalEntry } from './journal-entry.js';
import type { Segment, SegmentLog } from './segment-log.js';

/** A part of one segment. */
interface Range {
  from: number;
  to: number;
  bytes?: Buffer;
}

/**
 * Reads settled events, from memory or from the disk: what several of them have in one file is read at once. Makes no
 * object for an event: thousands would survive until Postgres answers, which costs the garbage collector (ADR 0050).
 */
export class SettledReader {
  private readonly ranges = new Map<Segment, Range>();

  constructor(
    private readonly log: SegmentLog,
    entries: readonly JournalEntry[],
  ) {
    for (const { block, settledIn, settledAt, settledBytes } of entries) {
      if (block !== undefined || settledIn === undefined) continue;
      const range = this.ranges.get(settledIn);
      const to = settledAt + settledBytes;
      if (range === undefined) this.ranges.set(settledIn, { from: settledAt, to });
      else {
        range.from = Math.min(range.from, settledAt);
        range.to = Math.max(range.to, to);
      }
    }
  }

  /** Length of the part of an event that was given to `settle`, in bytes. */
  headLength(entry: JournalEntry): number {
    return entry.settledBytes;
  }

  /**
   * Copies the head of an event.
   *
   * @throws Error when only the disk holds the event and it cannot be read back.
   */
  copyHead(entry: JournalEntry, target: Buffer, at: number): void {
    const { block, blockAt, settledBytes } = entry;
    if (block !== undefined) block.bytes.copy(target, at, blockAt, blockAt + settledBytes);
    else this.fromDisk(entry).copy(target, at);
  }

  /**
   * The JSON text of an event, with the members of its kind.
   *
   * @throws Error when only the disk holds the event and it cannot be read back.
   */
  text(entry: JournalEntry): string {
    const head = Buffer.alloc(this.headLength(entry));
    this.copyHead(entry, head, 0);
    return `${head}${entry.kind?.tail ?? ''}`;
  }

  private fromDisk({ settledIn, settledAt, settledBytes }: JournalEntry): Buffer {
    if (settledIn === undefined) throw new Error('the event is not in the journal');
    const range = this.ranges.get(settledIn);
    if (range === undefined || settledAt < range.from || settledAt + settledBytes > range.to) {
      return this.log.read(settledIn, settledAt, settledBytes);
    }
    range.bytes ??= this.log.read(settledIn, range.from, range.to - range.from);
    const at = settledAt - range.from;
    return range.bytes.subarray(at, at + settledBytes);
  }
}
