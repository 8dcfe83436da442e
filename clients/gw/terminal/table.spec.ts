import { expect, it } from '@jest/globals';
import { table } from './table.js';

it('a value that is long, or has breaks in it → one line, and the columns stay', () => {
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

it('a name that turns the text around it → its characters are seen', () => {
  expect(table(['NAME'], [['admin\u202egro.live\u2066\u200b']])).toContain('admin\\u202egro.live\\u2066\\u200b');
});
