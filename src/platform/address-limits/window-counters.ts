interface CountedWindow {
  readonly startMs: number;
  readonly counts: Map<string, number>;
  /** Created when the first name exceeds `maxNames`. */
  buckets: Uint32Array | undefined;
}

/** A count and its name: the caller's own, or that of a shared bucket. */
interface Counted {
  readonly name: string;
  readonly count: number;
}

/** Names with exact counts in one window: about 10 MB. */
const MAX_NAMES = 100_000;
const BUCKETS = 65_536;

/**
 * In-memory counts of one limit. A count is dropped only with its window, so no client can evict another's count.
 * Beyond `maxNames` names in one window, further names share 65 536 hash buckets: their callers may be refused early,
 * never late.
 *
 * Two windows are kept, so that counts survive a clock that is set back by less than a window.
 */
export class WindowCounters {
  private current: CountedWindow | undefined;
  private other: CountedWindow | undefined;

  constructor(private readonly maxNames = MAX_NAMES) {}

  /**
   * Counts one call.
   *
   * @param startMs start of the window, in milliseconds since the Unix epoch.
   * @param name from `counterName`; its first characters select the bucket.
   */
  increment(startMs: number, name: string): Counted {
    const window = this.windowOf(startMs);
    const before = window.counts.get(name);
    if (before === undefined && window.counts.size >= this.maxNames) return incrementBucket(window, name);
    const count = (before ?? 0) + 1;
    window.counts.set(name, count);
    return { name, count };
  }

  /** The count of a name as `increment` would find it. */
  read(startMs: number, name: string): Counted {
    const window = this.windowOf(startMs);
    const count = window.counts.get(name);
    if (count !== undefined || window.counts.size < this.maxNames) return { name, count: count ?? 0 };
    const bucket = bucketOf(name);
    return { name: `bucket:${bucket}`, count: window.buckets?.[bucket] ?? 0 };
  }

  private windowOf(startMs: number): CountedWindow {
    if (this.current?.startMs === startMs) return this.current;
    const known = this.other?.startMs === startMs ? this.other : undefined;
    this.other = this.current;
    this.current = known ?? { startMs, counts: new Map(), buckets: undefined };
    return this.current;
  }
}

function incrementBucket(window: CountedWindow, name: string): Counted {
  window.buckets ??= new Uint32Array(BUCKETS);
  const bucket = bucketOf(name);
  const count = (window.buckets[bucket] ?? 0) + 1;
  window.buckets[bucket] = count;
  return { name: `bucket:${bucket}`, count };
}

function bucketOf(name: string): number {
  return Buffer.from(name.slice(0, 4), 'base64url').readUInt16BE();
}
