import { type Family, type Gauge, Histogram, type MetricAbout, type Tally } from './instruments.js';

/** One series as plain numbers, which can be sent to another process. */
export interface ReportedSeries {
  /** Values, in the order of the metric's labels. */
  readonly labels: readonly string[];
  /** Undivided. One number; of a histogram those of its buckets and of what is above them, then the sum of all values. */
  readonly numbers: readonly number[];
}

/** One metric with what was counted of it. */
export interface ReportedMetric {
  readonly about: MetricAbout;
  /** Upper bounds of a histogram. */
  readonly bounds: readonly number[];
  readonly series: readonly ReportedSeries[];
}

/** What one process, or several together, have counted. */
export type MetricsReport = readonly ReportedMetric[];

const COMBINE = {
  sum: (one: number, other: number) => one + other,
  most: Math.max,
  least: Math.min,
} as const;

/** What the instruments of this process say now; a gauge that knows nothing has no series. */
export function reportOf(
  families: readonly (Family<Tally> | Family<Histogram>)[],
  gauges: readonly Gauge[],
): MetricsReport {
  return [...families.map(reportedFamily), ...gauges.map(reportedGauge)];
}

/** Several reports as one, each metric by its own rule. Metrics and series come in the order in which they are met. */
export function together(reports: readonly MetricsReport[]): MetricsReport {
  const metrics = new Map<string, ReportedMetric[]>();
  for (const metric of reports.flat()) {
    const { name } = metric.about;
    metrics.set(name, [...(metrics.get(name) ?? []), metric]);
  }
  return [...metrics.values()].flatMap((same) => combined(same));
}

function combined(same: readonly ReportedMetric[]): ReportedMetric[] {
  const [first] = same;
  if (first === undefined) return [];
  const combine = COMBINE[first.about.across ?? 'sum'];
  const series = new Map<string, ReportedSeries>();
  for (const { labels, numbers } of same.flatMap((metric) => metric.series)) {
    const key = JSON.stringify(labels);
    const before = series.get(key)?.numbers;
    series.set(key, { labels, numbers: before?.map((one, at) => combine(one, numbers[at] ?? 0)) ?? numbers });
  }
  // A process that has observed nothing knows no bounds.
  const bounds = same.find((metric) => metric.bounds.length > 0)?.bounds ?? [];
  return [{ about: first.about, bounds, series: [...series.values()] }];
}

/** What stays true of a process that has ended: what it has counted, and not what it held. */
export function lasting(report: MetricsReport): MetricsReport {
  return report.filter(({ about }) => about.type !== 'gauge');
}

function reportedFamily(family: Family<Tally> | Family<Histogram>): ReportedMetric {
  const series: ReportedSeries[] = [];
  let bounds: readonly number[] = [];
  for (const [labels, instrument] of family.members()) {
    const isHistogram = instrument instanceof Histogram;
    if (isHistogram) bounds = instrument.bounds;
    series.push({ labels, numbers: isHistogram ? [...instrument.counts, instrument.sum] : [instrument.value] });
  }
  return { about: family.about, bounds, series };
}

function reportedGauge({ about, read }: Gauge): ReportedMetric {
  const value = read();
  return { about, bounds: [], series: value === undefined ? [] : [{ labels: [], numbers: [value] }] };
}
