import { expect, it } from '@jest/globals';
import { planText } from './plan.rules.js';

const textOf = (before: unknown, after: unknown) =>
  planText({
    changes: [
      { kind: 'app', action: 'update', name: 'notes', id: 'a', fields: [{ path: 'p', before, after }], meaning: [] },
    ],
    ...{ missing: [], unowned: { apps: [], providers: [] }, newKeys: [] },
  }).split('\n')[1];

it('a long value → the part where it begins to differ, and how long it is', () => {
  const start = 'same '.repeat(200);
  const line = textOf(`${start}old ${'tail '.repeat(200)}`, `${start}new ${'tail '.repeat(200)}`) ?? '';
  expect(line.length).toBeLessThan(500);
  expect(line).toContain('same old tail');
  expect(line).toContain('same new tail');
  expect(line).toContain('characters)');
});

it('a short value → unchanged', () => {
  expect(textOf(1, { a: 'b' })).toBe('    ~ p: 1 -> {"a":"b"}');
});

it('a cut between the halves of a character → neither half is left alone', () => {
  const line = textOf('', `${'x'.repeat(158)}${'😀'.repeat(90)}`) ?? '';
  expect(line.isWellFormed()).toBe(true);
});
