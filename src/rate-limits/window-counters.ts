/** One window's counts. */
interface CountedWindow {
  readonly startMs: number;
  readonly counts: Map<string, number>;
  /** Made when the first name finds no room. */
  buckets: Uint32Array | undefined;
}

/** A count, and the name it stands under: the caller's own, or that of the bucket it shares. */
interface Counted {
  readonly name: string;
  readonly count: number;
}

/** Names counted exactly in one window: about 10 MB. */
const MAX_NAMES = 100_000;
const BUCKETS = 65_536;

/**
 * Counts of one policy in this process's memory. A count is dropped with its window and never before, so nobody can
 * push out another's. Beyond `maxNames` names in one window, further ones share 65 536 buckets by their name: such a
 * caller may be refused early, never late.
 *
 * Two windows are kept, so that a clock which is set back by less than a window finds what it had counted.
 */
export class WindowCounters {
  private current: CountedWindow | undefined;
  private other: CountedWindow | undefined;

  constructor(private readonly maxNames = MAX_NAMES) {}

  /**
   * Counts one call.
   *
   * @param startMs the window, in milliseconds since the Unix epoch.
   * @param name from `counterName`; its first characters choose the bucket.
   */
  countUp(startMs: number, name: string): Counted {
    const window = this.windowOf(startMs);
    const before = window.counts.get(name);
    if (before === undefined && window.counts.size >= this.maxNames) return countInBucket(window, name);
    const count = (before ?? 0) + 1;
    window.counts.set(name, count);
    return { name, count };
  }

  private windowOf(startMs: number): CountedWindow {
    if (this.current?.startMs === startMs) return this.current;
    const known = this.other?.startMs === startMs ? this.other : undefined;
    this.other = this.current;
    this.current = known ?? { startMs, counts: new Map(), buckets: undefined };
    return this.current;
  }
}

function countInBucket(window: CountedWindow, name: string): Counted {
  window.buckets ??= new Uint32Array(BUCKETS);
  const bucket = Buffer.from(name.slice(0, 4), 'base64url').readUInt16BE();
  const count = (window.buckets[bucket] ?? 0) + 1;
  window.buckets[bucket] = count;
  return { name: `bucket:${bucket}`, count };
}
