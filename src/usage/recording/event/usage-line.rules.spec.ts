import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countMember, storableText, textMember, wholeNumber } from './usage-line.rules.js';

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.constantFrom('\ud800', 'a\u0000b', '"\\\n'));

describe('usage line', () => {
  it('any text → text that Postgres can store, no longer than allowed', () => {
    fc.assert(
      fc.property(anyText, fc.nat({ max: 20 }), (text, max) => {
        const stored = storableText(text, max);
        expect(stored.length).toBeLessThanOrEqual(max);
        expect(stored.isWellFormed()).toBe(true);
        expect(stored).not.toContain('\u0000');
      }),
    );
  });

  it('valid text → unchanged', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        fc.pre(!text.includes('\u0000') && text.isWellFormed());
        expect(storableText(text, text.length)).toBe(text);
      }),
    );
  });

  it('cut in the middle of a character → its half is replaced, not kept', () => {
    expect(storableText('ab😀', 3)).toBe('ab\ufffd');
  });

  it('any text as a field → the same text in the JSON', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const json = `{"first":1${textMember('name', text)}}`;
        expect(JSON.parse(json)).toEqual({ first: 1, name: storableText(text, text.length) });
      }),
    );
  });

  it.each([null, undefined])('%s as a field → omitted', (value) => {
    expect(textMember('name', value)).toBe('');
  });

  it.each([
    [0, 0],
    [7, 7],
    [1.5, 2],
    [-3, 0],
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER],
    [1e300, Number.MAX_SAFE_INTEGER],
  ])('count %d → %d', (value, stored) => {
    expect(wholeNumber(value)).toBe(stored);
    expect(countMember('n', value)).toBe(stored === 0 ? '' : `,"n":${stored}`);
  });
});
