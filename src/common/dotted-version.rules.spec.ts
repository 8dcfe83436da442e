import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isBelowVersion } from './dotted-version.rules.js';

describe('isBelowVersion', () => {
  it.each([
    ['2.9', '2.10', true],
    ['2.10', '2.9', false],
    ['2', '2.0.0', false],
    ['2.0.0', '2', false],
    ['2.0.0.1', '2', false],
    ['1.99', '2', true],
    ['007', '7', false],
    ['202611291017', '202611291018', true],
    ['999999999999999999', '1000000000000000000'.slice(0, 18), false],
    [null, '0', true],
    ['', '0', true],
    ['2.1-beta', '1', true],
    ['v3', '1', true],
    ['3.', '1', true],
    ['-1', '0', true],
    ['1e3', '1', true],
    ['\u0663', '1', true],
    ['9'.repeat(19), '1', true],
    [Array(11).fill('1').join('.'), '1', true],
  ])('%j, minimum %s → %s', (version, minimum, isBelow) => {
    expect(isBelowVersion(version, minimum)).toBe(isBelow);
  });

  it('any numbers → compared as lists of numbers', () => {
    const numbers = fc.array(fc.nat(), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(numbers, numbers, (one, other) => {
        const place = one.findIndex((number, at) => number !== other[at]);
        const expected = place >= 0 && Number(one[place]) < Number(other[place]);
        expect(isBelowVersion(one.join('.'), other.join('.'))).toBe(expected);
      }),
    );
  });
});
