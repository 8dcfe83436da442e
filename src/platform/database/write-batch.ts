import { backoffMs } from './retry-unreachable.js';

interface WriteBatchOptions<Item> {
  /** Maximum items of a write; this many do not wait for more. */
  readonly maxItems: number;
  /** Maximum time that an item waits for others, in milliseconds. */
  readonly gatherMs: number;
  /**
   * Writes items. Must not throw.
   *
   * @returns those to retry, in order; none when all are done.
   */
  readonly run: (items: readonly Item[]) => Promise<readonly Item[]>;
}

/**
 * Collects items and writes them in the background: many at once, one write at a time, in order. What is left of a
 * failed write returns to the front and is retried with backoff. Nothing bounds the items that wait; callers that need
 * a bound use `waiting`, `running` and `dropOldest`. Source: docs/adr/0055-batches-and-kept-sums.md.
 */
export class WriteBatch<Item> {
  private items: Item[] = [];
  private attempted: readonly Item[] = [];
  private timer: NodeJS.Timeout | undefined;
  private attempt: Promise<boolean> | undefined;
  private failures = 0;
  private isClosed = false;

  constructor(private readonly options: WriteBatchOptions<Item>) {}

  /** Number of items that wait, without those of the running attempt. */
  get waiting(): number {
    return this.items.length;
  }

  /** Number of items in the running attempt. */
  get running(): number {
    return this.attempted.length;
  }

  add(item: Item): void {
    this.items.push(item);
    if (this.items.length === this.options.maxItems && this.failures === 0) this.cancelTimer();
    this.schedule();
  }

  /** Removes the oldest item that waits; those of the running attempt are never touched. */
  dropOldest(): void {
    this.items.shift();
  }

  /** Writes all items now. Returns when none is left, or after a failed attempt. */
  async run(): Promise<void> {
    while (this.items.length > 0 || this.attempt !== undefined) {
      if (!(await this.runNext())) return;
    }
  }

  /** Ends all background writes. @returns the items that were not written. */
  close(): readonly Item[] {
    this.isClosed = true;
    this.cancelTimer();
    return this.items.splice(0);
  }

  private schedule(): void {
    const { maxItems, gatherMs } = this.options;
    if (this.isClosed || this.attempt !== undefined || this.items.length === 0) return;
    const batchMs = this.items.length >= maxItems ? 0 : gatherMs;
    const delayMs = this.failures === 0 ? batchMs : backoffMs(this.failures);
    this.timer ??= setTimeout(() => void this.runNext(), delayMs).unref();
  }

  private cancelTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** @returns false when the attempt failed. */
  private runNext(): Promise<boolean> {
    this.cancelTimer();
    this.attempt ??= this.attemptNext().finally(() => {
      this.attempt = undefined;
      this.schedule();
    });
    return this.attempt;
  }

  private async attemptNext(): Promise<boolean> {
    this.attempted = this.items.splice(0, this.options.maxItems);
    const retry = await this.options.run(this.attempted);
    this.attempted = [];
    this.items.unshift(...retry);
    this.failures = retry.length === 0 ? 0 : this.failures + 1;
    return retry.length === 0;
  }
}
