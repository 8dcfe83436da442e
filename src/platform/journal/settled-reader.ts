import type { JournalEntry, SettledJson } from './journal-entry.js';
import type { Segment, SegmentLog } from './segment-log.js';

/** A part of one segment. */
interface Range {
  from: number;
  to: number;
  bytes?: Buffer;
}

/** Reads settled events, from memory or from the disk: what several of them have in one file is read at once. */
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

  /**
   * The bytes stay as they are until the event is stored.
   *
   * @throws Error when only the disk holds the event and it cannot be read back.
   */
  read(entry: JournalEntry): SettledJson {
    const whole = inMemory(entry) ?? this.fromDisk(entry);
    return { whole, head: whole.subarray(0, entry.headBytes) };
  }

  private fromDisk({ settledIn, settledAt, settledBytes }: JournalEntry): Buffer {
    const range = settledIn && this.ranges.get(settledIn);
    if (settledIn === undefined || range === undefined) throw new Error('the event is not in the journal');
    range.bytes ??= this.log.read(settledIn, range.from, range.to - range.from);
    const at = settledAt - range.from;
    return range.bytes.subarray(at, at + settledBytes);
  }
}

/** A copy before the event is written: the write may release its block. */
function inMemory({ block, blockAt, settledBytes, settledIn }: JournalEntry): Buffer | undefined {
  const bytes = block?.bytes.subarray(blockAt, blockAt + settledBytes);
  return bytes !== undefined && settledIn === undefined ? Buffer.from(bytes) : bytes;
}
