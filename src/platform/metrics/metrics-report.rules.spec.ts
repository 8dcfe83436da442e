import { describe, expect, it } from '@jest/globals';
import { Family, Gauge, Histogram, type MetricAbout, Tally } from './instruments.js';
import { lasting, type MetricsReport, reportOf, together } from './metrics-report.rules.js';

const about = (overrides: Partial<MetricAbout> = {}): MetricAbout => ({
  ...{ name: 'x_total', help: 'X.', type: 'counter', labels: ['of'] },
  ...overrides,
});

function counted(values: Readonly<Record<string, number>>): MetricsReport {
  const family = new Family(about(), () => new Tally());
  for (const [of, value] of Object.entries(values)) family.of(of).add(value);
  return reportOf([family], []);
}

function observed(...values: number[]): MetricsReport {
  const family = new Family(about({ name: 's', type: 'histogram' }), () => new Histogram([1, 5]));
  for (const value of values) family.of('a').observe(value);
  return reportOf([family], []);
}

function read(value: number | undefined, across?: MetricAbout['across']): MetricsReport {
  const gauge = new Gauge(about({ name: 'g', type: 'gauge', labels: [], across }));
  gauge.read = () => value;
  return reportOf([], [gauge]);
}

const seriesOf = (report: MetricsReport) =>
  report.flatMap(({ series }) => series.map(({ labels, numbers }) => [...labels, ...numbers]));

describe('reports of several processes', () => {
  it('counters → the sum of each series, even of one that only one process has', () => {
    expect(seriesOf(together([counted({ a: 1, b: 2 }), counted({ b: 3, c: 4 })]))).toEqual([
      ['a', 1],
      ['b', 5],
      ['c', 4],
    ]);
  });

  it('histograms → the sum of each bucket and of all values, in any order of processes', () => {
    const report = together([observed(), observed(0.5, 9), observed(3, 0.5)]);
    expect(seriesOf(report)).toEqual([['a', 2, 1, 1, 13]]);
    expect(report.map(({ bounds }) => bounds)).toEqual([[1, 5]]);
  });

  it.each([
    [undefined, 5],
    ['sum', 5],
    ['most', 3],
    ['least', 0],
  ] as const)('gauges combined by their %s → %i', (across, expected) => {
    expect(seriesOf(together([read(3, across), read(0, across), read(undefined, across), read(2, across)]))).toEqual([
      [expected],
    ]);
  });

  it('unchanged when sent to another process', () => {
    const report = together([counted({ a: 1 }), observed(0.5), read(7, 'most')]);
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });

  it('of a process that has ended → its counters stay, its gauges do not', () => {
    const report = lasting([...counted({ a: 1 }), ...observed(0.5), ...read(7)]);
    expect(report.map(({ about: { name } }) => name)).toEqual(['x_total', 's']);
  });
});
