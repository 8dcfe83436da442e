/** The retained bytes of a sequence: all of them in `head` when `tail` is absent, else the first and the last bytes. */
export interface WindowView {
  readonly head: Buffer;
  readonly tail?: Buffer;
}

const INITIAL_CAPACITY_BYTES = 1024;
/** A buffer up to this size is reused for the next sequence; a larger one is released. */
const REUSED_CAPACITY_BYTES = 4096;
const EMPTY = Buffer.alloc(0);

/**
 * Retains the first `headBytes` and the last `tailBytes` of the appended bytes. One buffer grows on demand; beyond its
 * maximum size, the tail is a ring buffer. Appended chunks are copied, never retained.
 */
export class ByteWindow {
  private buffer = EMPTY;
  private total = 0;
  private readonly capacity: number;

  constructor(
    private readonly headBytes: number,
    private readonly tailBytes: number,
  ) {
    this.capacity = headBytes + tailBytes;
  }

  /** Bytes appended since the last `clear`, dropped bytes included. */
  get length(): number {
    return this.total;
  }

  /** Whether all bytes, those of a further chunk included, are retained. */
  holdsAlso(chunk: Buffer): boolean {
    return this.total + chunk.length <= this.capacity;
  }

  append(chunk: Buffer): void {
    const fits = Math.min(chunk.length, Math.max(0, this.capacity - this.total));
    if (fits > 0) {
      this.reserve(this.total + fits);
      chunk.copy(this.buffer, this.total, 0, fits);
      this.total += fits;
    }
    if (fits < chunk.length) this.appendToRing(chunk, fits);
  }

  /** A view that the next `append` or `clear` may overwrite; copy it to keep it. */
  view(): WindowView {
    if (this.total <= this.capacity) return { head: this.buffer.subarray(0, this.total) };
    const ring = this.buffer.subarray(this.headBytes, this.capacity);
    const start = (this.total - this.headBytes) % this.tailBytes;
    return {
      head: this.buffer.subarray(0, this.headBytes),
      tail: Buffer.concat([ring.subarray(start), ring.subarray(0, start)]),
    };
  }

  clear(): void {
    this.total = 0;
    if (this.buffer.length > REUSED_CAPACITY_BYTES) this.buffer = EMPTY;
  }

  private appendToRing(chunk: Buffer, from: number): void {
    // Only the last `tailBytes` survive; earlier bytes of the chunk are skipped.
    const start = Math.max(from, chunk.length - this.tailBytes);
    this.total += start - from;
    for (let at = start; at < chunk.length; ) {
      const offset = (this.total - this.headBytes) % this.tailBytes;
      const written = chunk.copy(this.buffer, this.headBytes + offset, at, at + this.tailBytes - offset);
      this.total += written;
      at += written;
    }
  }

  private reserve(size: number): void {
    if (size <= this.buffer.length) return;
    const doubled = Math.max(size, this.buffer.length * 2, INITIAL_CAPACITY_BYTES);
    const grown = Buffer.allocUnsafeSlow(Math.min(this.capacity, doubled));
    this.buffer.copy(grown, 0, 0, this.total);
    this.buffer = grown;
  }
}

/** Returns a view that later appends do not change, in memory of its own. Source: ADR 0050. */
export function copyOfView(view: WindowView): WindowView {
  const head = Buffer.allocUnsafeSlow(view.head.length);
  view.head.copy(head);
  return { head, tail: view.tail };
}
