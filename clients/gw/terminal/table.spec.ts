import { describe, expect, it } from '@jest/globals';
import { table } from './table.js';

it('a value that is long or contains line breaks → one line, and the columns stay aligned', () => {
  const long = `${'word '.repeat(200)}\n\r\n\u2028end`;
  const lines = table(
    ['NAME', 'STATE'],
    [
      [long, 'active'],
      ['short', 'active'],
    ],
  ).split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[1]?.indexOf('active')).toBe(lines[2]?.indexOf('active'));
});

it('a name with bidirectional controls → its characters are escaped visibly', () => {
  expect(table(['NAME'], [['admin\u202egro.live\u2066\u200b']])).toContain('admin\\u202egro.live\\u2066\\u200b');
});

describe('a table for a terminal', () => {
  const HEADINGS = ['NAME', 'COST', 'ID'];
  const widths = (text: string) => text.split('\n').map((line) => line.length);

  it('wider than it → the longest text is truncated, numbers and identifiers are not', () => {
    const text = table(HEADINGS, [['name '.repeat(40), '$1234.567890', 'notes-0a1b2c']], 60);
    expect(Math.max(...widths(text))).toBe(60);
    expect(text).toMatch(/… {2}\$1234\.567890 {2}notes-0a1b2c$/);
  });

  it('still wider → identifiers are truncated as well, but stay readable', () => {
    const [, line = ''] = table(HEADINGS, [['n'.repeat(80), 12, 'i'.repeat(63)]], 40).split('\n');
    expect(line).toMatch(/^n{9}… {2}12 {4}i+…$/);
    expect(line).toHaveLength(40);
    const [, least = ''] = table(HEADINGS, [['n'.repeat(80), 12, 'i'.repeat(63)]], 10).split('\n');
    expect(least).toMatch(/^n{9}… {2}12 {4}i{9}…$/);
  });

  it('characters of two columns → counted as two', () => {
    const [, line = ''] = table(['NAME'], [['漢'.repeat(40)]], 21).split('\n');
    expect(line).toBe(`${'漢'.repeat(10)}…`);
  });

  it('that fits, or without a terminal → complete', () => {
    const rows = [['x'.repeat(200), 'y', 'z']];
    expect(table(HEADINGS, rows)).toContain('x'.repeat(200));
    expect(table(HEADINGS, rows, 300)).toContain('x'.repeat(200));
  });
});
