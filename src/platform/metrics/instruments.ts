/** Name and help of a metric. */
export interface MetricAbout {
  /** Letters, digits and underscores. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** At most three, with values from closed sets: never an organization, a user or client text. */
  readonly labels: readonly string[];
  /** Divides the value on export; 1 when absent. Keeps money in whole nano-dollars internally. */
  readonly divisor?: number;
  /** How processes that share a port combine their values; the sum when absent. */
  readonly across?: 'sum' | 'most' | 'least';
}

/** A counter. */
export class Tally {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** Counts observed values by bucket. */
export class Histogram {
  /** One per bound, plus one for values above the last. */
  readonly counts: number[];
  sum = 0;

  /** @param bounds inclusive upper bounds, ascending. */
  constructor(readonly bounds: readonly number[]) {
    this.counts = [...bounds.map(() => 0), 0];
  }

  observe(value: number): void {
    let at = 0;
    for (const bound of this.bounds) {
      if (value <= bound) break;
      at++;
    }
    this.counts[at] = (this.counts[at] ?? 0) + 1;
    this.sum += value;
  }
}

/** A value read on export. */
export class Gauge {
  /** Set by the owner of the value; `undefined` means no series. */
  read: () => number | undefined = () => undefined;

  constructor(readonly about: MetricAbout) {}
}

/**
 * The instruments of one metric, one per set of label values: created on first use, then looked up without allocation.
 */
export class Family<T> {
  readonly #members = new Map<string, Map<string, Map<string, T>>>();

  constructor(
    readonly about: MetricAbout,
    private readonly make: () => T,
  ) {
    if (about.labels.length === 0) this.of();
  }

  /** The instrument for these label values, in the order of `about.labels`. */
  of(first = '', second = '', third = ''): T {
    const ofFirst = member(this.#members, first, emptyMap<Map<string, T>>);
    return member(member(ofFirst, second, emptyMap<T>), third, this.make);
  }

  /** Every instrument so far with its label values. */
  *members(): Generator<readonly [labels: readonly string[], instrument: T]> {
    for (const [first, ofFirst] of this.#members)
      for (const [second, ofSecond] of ofFirst)
        for (const [third, instrument] of ofSecond)
          yield [[first, second, third].slice(0, this.about.labels.length), instrument];
  }
}

function member<V>(members: Map<string, V>, key: string, make: () => V): V {
  const known = members.get(key);
  if (known !== undefined) return known;
  const made = make();
  members.set(key, made);
  return made;
}

function emptyMap<V>(): Map<string, V> {
  return new Map<string, V>();
}
