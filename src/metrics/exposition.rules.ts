import { type Family, type Gauge, Histogram, type MetricAbout, type Tally } from '../platform/metrics/instruments.js';

/** The content type of the Prometheus text format that {@link renderExposition} writes. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/**
 * The Prometheus text format, version 0.0.4: for each metric its help, its type and its samples. A metric without samples
 * is left out.
 */
export function renderExposition(
  families: readonly (Family<Tally> | Family<Histogram>)[],
  gauges: readonly Gauge[],
): string {
  let text = '';
  for (const family of families) text += block(family.about, familySamples(family));
  for (const { about, read } of gauges) {
    const value = read();
    text += block(about, value === undefined ? '' : sample(about.name, '', value / (about.divisor ?? 1)));
  }
  return text;
}

function block({ name, help, type }: MetricAbout, samples: string): string {
  if (samples === '') return '';
  return `# HELP ${name} ${escaped(help)}\n# TYPE ${name} ${type}\n${samples}`;
}

function familySamples(family: Family<Tally> | Family<Histogram>): string {
  const { about } = family;
  let text = '';
  for (const [values, instrument] of family.members()) {
    const labels = about.labels.map((label, at) => labelPair(label, values[at] ?? ''));
    text +=
      instrument instanceof Histogram
        ? histogramSamples(about.name, labels, instrument)
        : sample(about.name, labels.join(','), instrument.value / (about.divisor ?? 1));
  }
  return text;
}

/** Buckets hold everything up to their bound, the ones below included. */
function histogramSamples(name: string, labels: readonly string[], { bounds, counts, sum }: Histogram): string {
  let text = '';
  let count = 0;
  for (const [at, inBucket] of counts.entries()) {
    count += inBucket;
    const bound = labelPair('le', numberText(bounds[at] ?? Number.POSITIVE_INFINITY));
    text += sample(`${name}_bucket`, [...labels, bound].join(','), count);
  }
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
