import { describe, expect, it } from '@jest/globals';
import { Exposition } from '../../../test/support/health/metrics/exposition.js';
import { Family, Gauge, Histogram, type MetricAbout, Tally } from '../../platform/metrics/instruments.js';
import { reportOf } from '../../platform/metrics/metrics-report.rules.js';
import { renderExposition } from './exposition.rules.js';

const about = (overrides: Partial<MetricAbout> = {}): MetricAbout => ({
  name: 'x_total',
  help: 'How many.',
  type: 'counter',
  labels: [],
  ...overrides,
});

function gaugeOf(value: number | undefined): Gauge {
  const gauge = new Gauge(about({ name: 'g', type: 'gauge' }));
  gauge.read = () => value;
  return gauge;
}

describe('renderExposition', () => {
  it('counters, a histogram and a gauge → the text format 0.0.4, byte for byte', () => {
    const calls = new Family(about({ labels: ['type', 'class'] }), () => new Tally());
    calls.of('openai', '2xx').add(3);
    calls.of('openai', 'none').add();
    const seconds = new Family(
      about({ name: 's', type: 'histogram', labels: ['type'] }),
      () => new Histogram([0.5, 2]),
    );
    for (const value of [0.1, 0.4, 1, 7]) seconds.of('xai').observe(value);
    expect(renderExposition(reportOf([calls, seconds], [gaugeOf(2)]))).toBe(
      [
        '# HELP x_total How many.',
        '# TYPE x_total counter',
        'x_total{type="openai",class="2xx"} 3',
        'x_total{type="openai",class="none"} 1',
        '# HELP s How many.',
        '# TYPE s histogram',
        's_bucket{type="xai",le="0.5"} 2',
        's_bucket{type="xai",le="2"} 3',
        's_bucket{type="xai",le="+Inf"} 4',
        's_sum{type="xai"} 8.5',
        's_count{type="xai"} 4',
        '# HELP g How many.',
        '# TYPE g gauge',
        'g 2',
        '',
      ].join('\n'),
    );
  });

  it('nothing counted, no value → the metric is omitted', () => {
    const family = new Family(about({ labels: ['type'] }), () => new Tally());
    expect(renderExposition(reportOf([family], [gaugeOf(undefined)]))).toBe('');
  });

  it('quotes, backslashes and line ends in labels and help → survive a round trip', () => {
    const hostile = 'a"b\\c\nd\\n} 1\n# TYPE';
    const family = new Family(about({ labels: ['of'], help: 'One\\two\nthree "four".' }), () => new Tally());
    family.of(hostile).add();
    const text = renderExposition(reportOf([family], []));
    expect(text.split('\n')[0]).toBe('# HELP x_total One\\\\two\\nthree "four".');
    expect(new Exposition(text).samples).toEqual([{ name: 'x_total', labels: { of: hostile }, value: 1 }]);
  });

  it.each([
    [0, '0'],
    [-1.5, '-1.5'],
    [1e-9, '1e-9'],
    [2 ** 53, '9007199254740992'],
    [1e21, '1e+21'],
    [Number.POSITIVE_INFINITY, '+Inf'],
    [Number.NEGATIVE_INFINITY, '-Inf'],
    [Number.NaN, 'NaN'],
  ])('%d → %s', (value, text) => {
    const rendered = renderExposition(reportOf([], [gaugeOf(value)]));
    expect(rendered).toContain(`\ng ${text}\n`);
    expect(new Exposition(rendered).samples[0]?.value).toBe(value);
  });

  it('money → in dollars, exact to the nano-dollar', () => {
    const family = new Family(about({ divisor: 1e9 }), () => new Tally());
    family.of().add(6_000_001);
    expect(renderExposition(reportOf([family], []))).toContain('x_total 0.006000001\n');
    const held = new Gauge(about({ name: 'g', type: 'gauge', divisor: 1e9 }));
    held.read = () => 2_500_000_000;
    expect(renderExposition(reportOf([], [held]))).toContain('g 2.5\n');
  });
});
