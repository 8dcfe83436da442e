import type { EventKind, JournalMark } from './journal-lines.rules.js';

/** Size of a block, unless one line needs more. */
const BLOCK_BYTES = 128 * 1024;
/** Unused blocks kept for later lines. */
const SPARE_BLOCKS = 16;
/** UTF-8 bytes of one UTF-16 unit at most. */
const MOST_BYTES_PER_UNIT = 3;
const LINE_FEED = 0x0a;
const NOTHING = Buffer.alloc(0);

/** Memory of encoded lines, outside the heap of the engine. */
export class LineBlock {
  readonly bytes: Buffer;
  /** Lines that still need these bytes. */
  uses = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(size);
  }
}

/** A line that is encoded and not yet written. */
export interface EncodedLine<Entry> {
  readonly entry: Entry;
  readonly mark: JournalMark;
  readonly block: LineBlock;
  /** Offset in the block. */
  readonly at: number;
  /** Mark and line end included. */
  readonly length: number;
  /** The part of it that `head` takes, in bytes. */
  readonly headLength: number;
}

/**
 * Encodes lines into blocks. An event that waits for Postgres is then a range of bytes: as text it would consist of
 * many small strings that the garbage collector copies. Blocks are used again when no line needs them.
 */
export class LineBlocks<Entry> {
  private current = new LineBlock(BLOCK_BYTES);
  private used = 0;
  private readonly spare: LineBlock[] = [];

  /**
   * Encodes one line, a complete JSON object; the caller releases its block.
   *
   * @param head JSON without a line break: up to the members of the kind, or complete without one.
   */
  encode(entry: Entry, mark: JournalMark, head: string, kind: EventKind | undefined): EncodedLine<Entry> {
    const tail = kind?.tail ?? NOTHING;
    const most = 2 + MOST_BYTES_PER_UNIT * head.length + tail.length;
    if (this.used + most > this.current.bytes.length) this.startBlock(most);
    const block = this.current;
    const { bytes } = block;
    const at = this.used;
    bytes[at] = mark.charCodeAt(0);
    const headLength = bytes.write(head, at + 1);
    bytes.set(tail, at + 1 + headLength);
    this.used = at + 2 + headLength + tail.length;
    bytes[this.used - 1] = LINE_FEED;
    block.uses++;
    return { entry, mark, block, at, length: this.used - at, headLength };
  }

  /** Ends one use of a block. */
  release(block: LineBlock): void {
    block.uses--;
    if (block.uses === 0 && block !== this.current) this.keep(block);
  }

  private startBlock(least: number): void {
    const full = this.current;
    const spare = least <= BLOCK_BYTES ? this.spare.pop() : undefined;
    this.current = spare ?? new LineBlock(Math.max(BLOCK_BYTES, least));
    this.used = 0;
    if (full.uses === 0) this.keep(full);
  }

  private keep(block: LineBlock): void {
    if (this.spare.length < SPARE_BLOCKS && block.bytes.length === BLOCK_BYTES) this.spare.push(block);
  }
}

/** The bytes of lines in their order, copied only where they are not adjacent. */
export function bytesOf(lines: readonly EncodedLine<unknown>[]): Buffer {
  const ranges: Buffer[] = [];
  let [block, from, to]: [LineBlock | undefined, number, number] = [undefined, 0, 0];
  for (const line of lines) {
    if (line.block === block && line.at === to) to += line.length;
    else {
      if (block !== undefined) ranges.push(block.bytes.subarray(from, to));
      [block, from, to] = [line.block, line.at, line.at + line.length];
    }
  }
  if (block !== undefined) ranges.push(block.bytes.subarray(from, to));
  return ranges.length === 1 && ranges[0] !== undefined ? ranges[0] : Buffer.concat(ranges);
}
