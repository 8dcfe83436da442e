/** What a metric is called and what it counts, as it is told to whoever scrapes it. */
export interface MetricAbout {
  /** In the alphabet of Prometheus: letters, digits and underscores. */
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** At most three. Their values come from closed lists: never a tenant, a user or text from outside. */
  readonly labels: readonly string[];
  /** What is counted is divided by this when it is told; 1 when absent. Keeps money in whole nano-dollars until then. */
  readonly divisor?: number;
  /** What processes that share a port tell together: the sum of all when absent. */
  readonly across?: 'sum' | 'most' | 'least';
}

/** A number that is added to. */
export class Tally {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

/** How often values fell between the given bounds. */
export class Histogram {
  /** One for each bound, and one for what is above the last. */
  readonly counts: number[];
  sum = 0;

  /** @param bounds upper bounds, each included, growing. */
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

/** A number somebody knows, asked for when it is to be told. */
export class Gauge {
  /** Set by who knows it; `undefined` where there is nothing to tell. */
  read: () => number | undefined = () => undefined;

  constructor(readonly about: MetricAbout) {}
}

/** The instruments of one metric, one for each set of label values: made on first use, then found without allocating. */
export class Family<T> {
  readonly #members = new Map<string, Map<string, Map<string, T>>>();

  constructor(
    readonly about: MetricAbout,
    private readonly make: () => T,
  ) {
    if (about.labels.length === 0) this.of();
  }

  /** The instrument of these label values, in the order of `about.labels`. */
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
