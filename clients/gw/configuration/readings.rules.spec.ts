import { expect, it } from '@jest/globals';
import { movesBetween } from './readings.rules.js';

it.each([
  [{ a: '1' }, { a: '1' }, []],
  [{ a: '1' }, { a: '2' }, ['a was changed (1 became 2)']],
  [{ a: '1' }, {}, ['a was removed']],
  [{}, { constructor: 'x' }, ['constructor was added']],
])('%j, then %j → %j', (before, after, moves) => {
  expect(movesBetween(before as Record<string, string>, after as Record<string, string>)).toEqual(moves);
});
