const SECOND_MS = 1_000;

/** Counts calls whose events are not stored yet, by the second of their event. */
export class UnstoredCalls {
  private readonly bySecond = new Map<number, number>();

  /** @param atMs time of the event, in milliseconds since the Unix epoch. */
  begin(atMs: number): void {
    const second = Math.floor(atMs / SECOND_MS);
    this.bySecond.set(second, (this.bySecond.get(second) ?? 0) + 1);
  }

  /** The event is stored or set aside, or there will be none. @param atMs as for {@link begin}. */
  end(atMs: number): void {
    const second = Math.floor(atMs / SECOND_MS);
    const others = (this.bySecond.get(second) ?? 0) - 1;
    if (others > 0) this.bySecond.set(second, others);
    else this.bySecond.delete(second);
  }

  /** No call of an earlier time is open; milliseconds since the Unix epoch, infinity without any. */
  get sinceMs(): number {
    let first = Number.POSITIVE_INFINITY;
    for (const second of this.bySecond.keys()) first = Math.min(first, second);
    return first * SECOND_MS;
  }
}
