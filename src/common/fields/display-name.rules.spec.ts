import { describe, expect, it } from '@jest/globals';
import { isDisplayName, toDisplayName } from './display-name.rules.js';

const between = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at));

const MISLEADING = [
  ...between(0x00, 0x1f),
  ...between(0x7f, 0x9f),
  ...between(0x202a, 0x202e),
  ...between(0x2066, 0x2069),
  ...['\u200b', '\u2060', '\ufeff'],
];

describe('names for display', () => {
  it.each(MISLEADING.map((text) => [text]))(
    '%j anywhere → not a name; becomes a blank if a third party sends it',
    (text) => {
      for (const name of [`${text}Mail`, `Ma${text}il`, `Mail${text}`]) expect(isDisplayName(name)).toBe(false);
      expect(toDisplayName(`Ma${text}${text}il${text}`)).toBe('Ma il');
    },
  );

  it.each([
    'Mail',
    'Ärzte & Töchter, 2. Etage',
    'می\u200cخواهم',
    'क्\u200dष',
    '👩\u200d👩\u200d👧 family',
    'שלום \u200f(1)',
    '\u{e0041}',
  ])('%j → a valid name, unchanged', (name) => {
    expect([isDisplayName(name), toDisplayName(name)]).toEqual([true, name]);
  });
});
