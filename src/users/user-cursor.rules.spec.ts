import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cursorOf, placeOf } from './user-cursor.rules.js';

const encoded = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');

describe('cursors of users', () => {
  it('any position → the same after a round trip', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('recent' as const, 'cost' as const, 'budget' as const),
        fc.bigInt(0n, 9_999_999_999_999_999n).map(String),
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((id) => !/[\0]|^\.{1,2}$/.test(id)),
        (order, value, id) => expect(placeOf(order, cursorOf(order, { value, id }))).toEqual({ value, id }),
      ),
    );
  });

  it.each([
    ['no cursor', 'nonsense'],
    ['nothing', ''],
    ['not a list', encoded({})],
    ['of another order', encoded(['cost', '1', 'alice'])],
    ['an amount that is none', encoded(['budget', '1e9', 'alice'])],
    ['a number', encoded(['budget', 1, 'alice'])],
    ['a negative amount', encoded(['budget', '-1', 'alice'])],
    ['more digits than Postgres takes', encoded(['budget', '9'.repeat(31), 'alice'])],
    ['an id that cannot be stored', encoded(['budget', '1', 'a\0b'])],
    ['no id', encoded(['budget', '1'])],
  ])('%s → refused', (_what, cursor) => {
    expect(() => placeOf('budget', cursor)).toThrow('cursor: must be the next_cursor of a page with the same sort');
  });

  it('a time out of range for Postgres → refused', () => {
    expect(() => placeOf('recent', encoded(['recent', '9'.repeat(17), 'alice']))).toThrow('cursor');
  });
});
