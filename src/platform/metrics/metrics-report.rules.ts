import { type Family, type Gauge, Histogram, type MetricAbout, type Tally } from './instruments.js';

/** One series as plain numbers, serializable between processes. */
export interface ReportedSeries {
  /** Label values, in the order of the metric's labels. */
  readonly labels: readonly string[];
  /** Undivided. One number; for a histogram the bucket counts including the overflow bucket, then the sum. */
  readonly numbers: readonly number[];
}

/** One metric with its series. */
export interface ReportedMetric {
  readonly about: MetricAbout;
  /** Bucket bounds of a histogram. */
  readonly bounds: readonly number[];
  readonly series: readonly ReportedSeries[];
}

/** The metrics of one process, or of several combined. */
export type MetricsReport = readonly ReportedMetric[];

const COMBINE = {
  sum: (one: number, other: number) => one + other,
  most: Math.max,
  least: Math.min,
} as const;

/** The current values of this process; a gauge without a value has no series. */
export function reportOf(
  families: readonly (Family<Tally> | Family<Histogram>)[],
  gauges: readonly Gauge[],
): MetricsReport {
  return [...families.map(reportedFamily), ...gauges.map(reportedGauge)];
}

/** Combines reports, each metric by its own rule. Metrics and series keep the order of their first occurrence. */
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
  // A process without observations reports no bounds.
  const bounds = same.find((metric) => metric.bounds.length > 0)?.bounds ?? [];
  return [{ about: first.about, bounds, series: [...series.values()] }];
}

/** The part of a dead process's report that stays valid: counters, not gauges. */
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
