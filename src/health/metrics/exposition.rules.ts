import type { MetricAbout } from '../../platform/metrics/instruments.js';
import type { MetricsReport, ReportedMetric, ReportedSeries } from '../../platform/metrics/metrics-report.rules.js';

/** The content type of the Prometheus text format. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The Prometheus text format, version 0.0.4: help, type and samples of each metric. A metric without samples is
 * omitted.
 */
export function renderExposition(report: MetricsReport): string {
  return report.map((metric) => block(metric.about, samplesOf(metric))).join('');
}

function block({ name, help, type }: MetricAbout, samples: string): string {
  if (samples === '') return '';
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${samples}`;
}

function samplesOf({ about, bounds, series }: ReportedMetric): string {
  let text = '';
  for (const one of series) {
    const labels = about.labels.map((label, at) => labelPair(label, one.labels[at] ?? ''));
    text +=
      about.type === 'histogram'
        ? histogramSamples(about.name, labels, bounds, one)
        : sample(about.name, labels.join(','), (one.numbers[0] ?? 0) / (about.divisor ?? 1));
  }
  return text;
}

/** Buckets are cumulative. */
function histogramSamples(
  name: string,
  labels: readonly string[],
  bounds: readonly number[],
  { numbers }: ReportedSeries,
): string {
  let text = '';
  let count = 0;
  for (const [at, inBucket] of numbers.slice(0, -1).entries()) {
    count += inBucket;
    const bound = labelPair('le', numberText(bounds[at] ?? Number.POSITIVE_INFINITY));
    text += sample(`${name}_bucket`, [...labels, bound].join(','), count);
  }
  const sum = numbers.at(-1) ?? 0;
  return text + sample(`${name}_sum`, labels.join(','), sum) + sample(`${name}_count`, labels.join(','), count);
}

function sample(name: string, labels: string, value: number): string {
  return `${name}${labels === '' ? '' : `{${labels}}`} ${numberText(value)}\n`;
}

function labelPair(name: string, value: string): string {
  return `${name}="${escaped(value).replaceAll('"', '\\"')}"`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}
