/** One sample of a scrape. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface Metric {
  readonly type: string;
  readonly samples: Sample[];
}

const HELP = /^# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\\n]|\\\\|\\n)+)$/;
const TYPE = /^# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)$/;
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.+)\})? (-?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|\+Inf|NaN)$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(?:,(?=.)|$)/y;
const PARTS_OF_HISTOGRAM = ['_bucket', '_sum', '_count'];

/**
 * A scrape, read by a strict reader of the Prometheus text format 0.0.4: each metric told once, help before type before
 * samples, no series twice, counters not below zero, histograms cumulative and complete.
 *
 * @throws Error naming the first invalid line or series.
 */
export class Exposition {
  private readonly metrics = new Map<string, Metric>();
  private readonly seen = new Set<string>();

  constructor(text: string) {
    if (!text.endsWith('\n')) throw new Error('the last line has no end');
    let help: string | undefined;
    let current: [name: string, metric: Metric] | undefined;
    for (const line of text.slice(0, -1).split('\n')) {
      if (line.startsWith('# HELP ')) {
        help = HELP.exec(line)?.[1];
        if (help === undefined || this.metrics.has(help)) throw new Error(`not a first help: ${line}`);
      } else if (line.startsWith('#')) {
        const [, name, type = ''] = TYPE.exec(line) ?? [];
        if (name === undefined || name !== help) throw new Error(`not the type of what was helped: ${line}`);
        current = [name, { type, samples: [] }];
        this.metrics.set(...current);
      } else this.take(line, current);
    }
    for (const [name, metric] of this.metrics) checkMetric(name, metric);
  }

  get names(): string[] {
    return [...this.metrics.keys()];
  }

  get samples(): Sample[] {
    return [...this.metrics.values()].flatMap(({ samples }) => samples);
  }

  /** The sum of the samples of this name that carry these labels; zero where there is none. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const matching = this.samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
    return matching.reduce((sum, { value }) => sum + value, 0);
  }

  private take(line: string, current: [name: string, metric: Metric] | undefined): void {
    const [, name = '', labelText = '', valueText = ''] = SAMPLE.exec(line) ?? [];
    if (current === undefined || name === '') throw new Error(`no sample of a metric: ${line}`);
    const [family, { type, samples }] = current;
    const names = type === 'histogram' ? PARTS_OF_HISTOGRAM.map((part) => family + part) : [family];
    if (!names.includes(name)) throw new Error(`a sample of another metric: ${line}`);
    const labels = labelsOf(labelText, line);
    const series = `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
    if (this.seen.has(series)) throw new Error(`a series twice: ${line}`);
    this.seen.add(series);
    samples.push({ name, labels, value: Number(valueText.replace('Inf', 'Infinity')) });
  }
}

function labelsOf(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  for (let at = 0; at < text.length; at = LABEL.lastIndex) {
    const [, name, value = ''] = LABEL.exec(text) ?? [];
    if (name === undefined || name in labels) throw new Error(`labels that cannot be read: ${line}`);
    labels[name] = value.replace(/\\(.)/g, (_escape, letter) => (letter === 'n' ? '\n' : letter));
  }
  return labels;
}

function checkMetric(name: string, { type, samples }: Metric): void {
  if (samples.length === 0) throw new Error(`${name} has no samples`);
  if (type !== 'gauge' && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} is below zero`);
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name} is a counter and does not say so`);
  if (type === 'histogram') checkHistogram(name, samples);
}

function checkHistogram(name: string, samples: readonly Sample[]): void {
  const series = Map.groupBy(samples, ({ labels: { le, ...labels } }) => JSON.stringify(labels));
  for (const [labels, parts] of series) {
    const buckets = parts.filter((part) => part.name === `${name}_bucket`);
    const bounds = buckets.map(({ labels: { le = '' } }) => Number(le.replace('Inf', 'Infinity')));
    const counts = buckets.map(({ value }) => value);
    const isGrowing = (values: number[]) => values.every((value, at) => value >= (values[at - 1] ?? 0));
    const count = parts.find((part) => part.name === `${name}_count`)?.value;
    const isWhole = bounds.at(-1) === Number.POSITIVE_INFINITY && counts.at(-1) === count;
    const hasSum = parts.some((part) => part.name === `${name}_sum`);
    if (!isGrowing(bounds) || !isGrowing(counts) || !isWhole || !hasSum) throw new Error(`${name}${labels} is broken`);
  }
}
