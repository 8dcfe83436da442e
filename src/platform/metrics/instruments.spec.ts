import { describe, expect, it } from '@jest/globals';
import { Family, Gauge, Histogram, Tally } from './instruments.js';

const about = (...labels: string[]) => ({ name: 'x_total', help: 'X.', type: 'counter', labels }) as const;

describe('Family', () => {
  it('the same label values → the same instrument; other values → another', () => {
    const family = new Family(about('a', 'b', 'c'), () => new Tally());
    const first = family.of('1', '2', '3');
    expect(family.of('1', '2', '3')).toBe(first);
    for (const other of [
      ['1', '2', ''],
      ['1', '', '3'],
      ['', '2', '3'],
      ['12', '', '3'],
      ['1', '23'],
    ] as const) {
      expect(family.of(...other)).not.toBe(first);
    }
    expect([...family.members()]).toHaveLength(6);
  });

  it('members → label values in their order, as many as there are labels', () => {
    const family = new Family(about('a', 'b'), () => new Tally());
    family.of('1', '2').add(3);
    family.of('1', '').add(4);
    expect([...family.members()].map(([labels, { value }]) => [...labels, value])).toEqual([
      ['1', '2', 3],
      ['1', '', 4],
    ]);
  });

  it('no labels → its only instrument exists from the start; with labels none does', () => {
    expect([...new Family(about(), () => new Tally()).members()]).toEqual([[[], new Tally()]]);
    expect([...new Family(about('a'), () => new Tally()).members()]).toEqual([]);
  });
});

describe('Histogram', () => {
  it('a value on a bound → in its bucket; above the last bound → in the overflow bucket', () => {
    const histogram = new Histogram([1, 2.5, 10]);
    for (const value of [0, 1, 1.1, 2.5, 9, 10, 10.1, 4_000]) histogram.observe(value);
    expect(histogram.counts).toEqual([2, 2, 2, 2]);
    expect(histogram.sum).toBeCloseTo(4_033.7);
  });
});

describe('Gauge', () => {
  it('unknown value → no sample', () => {
    expect(new Gauge({ name: 'x', help: 'X.', type: 'gauge', labels: [] }).read()).toBeUndefined();
  });
});
