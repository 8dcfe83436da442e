import { backoffMs } from './retry-unreachable.js';

interface BatchQueueOptions<Item> {
  /** Maximum items in a batch; a full batch is written at once. */
  readonly batchSize: number;
  /** Maximum time that an item waits for others, in milliseconds. */
  readonly gatherMs: number;
  /**
   * Writes a batch. Must not throw.
   *
   * @returns the items to retry, in order; none when the batch is done.
   */
  readonly write: (batch: readonly Item[]) => Promise<readonly Item[]>;
}

/**
 * Queues items and writes them in the background: in batches, one at a time, in order. The rest of a failed batch
 * returns to the front of the queue and is retried with backoff. The queue has no bound; callers that need one use
 * `waiting`, `writing` and `dropOldest`. Source: docs/adr/0055-batches-and-kept-sums.md.
 */
export class BatchQueue<Item> {
  private items: Item[] = [];
  private batch: readonly Item[] = [];
  private timer: NodeJS.Timeout | undefined;
  private attempt: Promise<boolean> | undefined;
  private failures = 0;
  private isClosed = false;

  constructor(private readonly options: BatchQueueOptions<Item>) {}

  /** Number of queued items, without the batch of the running attempt. */
  get waiting(): number {
    return this.items.length;
  }

  /** Number of items in the running attempt. */
  get writing(): number {
    return this.batch.length;
  }

  add(item: Item): void {
    this.items.push(item);
    if (this.items.length === this.options.batchSize && this.failures === 0) this.cancelTimer();
    this.schedule();
  }

  /** Removes the oldest queued item; the batch of the running attempt is never touched. */
  dropOldest(): void {
    this.items.shift();
  }

  /** Writes all queued items now. Returns when none is left, or after a failed attempt. */
  async flush(): Promise<void> {
    while (this.items.length > 0 || this.attempt !== undefined) {
      if (!(await this.writeNext())) return;
    }
  }

  /** Ends all background writes. @returns the items that were not written. */
  close(): readonly Item[] {
    this.isClosed = true;
    this.cancelTimer();
    return this.items.splice(0);
  }

  private schedule(): void {
    const { batchSize, gatherMs } = this.options;
    if (this.isClosed || this.attempt !== undefined || this.items.length === 0) return;
    const batchMs = this.items.length >= batchSize ? 0 : gatherMs;
    const delayMs = this.failures === 0 ? batchMs : backoffMs(this.failures);
    this.timer ??= setTimeout(() => void this.writeNext(), delayMs).unref();
  }

  private cancelTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** @returns false when the attempt failed. */
  private writeNext(): Promise<boolean> {
    this.cancelTimer();
    this.attempt ??= this.write().finally(() => {
      this.attempt = undefined;
      this.schedule();
    });
    return this.attempt;
  }

  private async write(): Promise<boolean> {
    this.batch = this.items.splice(0, this.options.batchSize);
    const retry = await this.options.write(this.batch);
    this.batch = [];
    this.items.unshift(...retry);
    this.failures = retry.length === 0 ? 0 : this.failures + 1;
    return retry.length === 0;
  }
}
