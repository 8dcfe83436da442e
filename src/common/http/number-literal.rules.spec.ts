import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fuzzRuns } from '../../../test/support/jest/fuzz-runs.js';
import { isKeptAsDouble } from './number-literal.rules.js';

describe('numbers that are kept in double precision (RFC 7493, 2.2)', () => {
  it.each([
    ...['0', '-0', '0.000', '0e999999', '1.0', '1E2', '100e-2', '-1e-7', '9007199254740992', '1e23', '5e-324'],
    ...['1.7976931348623157e308', '0.1', '0.30000000000000004', '0.10000000000000001', '100000000000000000000000'],
  ])('%s → kept', (literal) => expect(isKeptAsDouble(literal)).toBe(true));

  it.each([
    ...['9007199254740993', '-12345678901234567890', '1e400', '-1e400', '1e-400', '3.14159265358979323846'],
    ...['9007199254740993.0', '90071992547409930e-1', '123456789012345678e5', '0.1000000000000000055511151231257827'],
  ])('%s → not kept', (literal) => expect(isKeptAsDouble(literal)).toBe(false));

  it('any double, as JSON writes it → kept', () => {
    fc.assert(
      fc.property(fc.double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        expect(isKeptAsDouble(JSON.stringify(value))).toBe(true);
      }),
      { numRuns: fuzzRuns(1_000) },
    );
  });

  it('any whole number → kept exactly when it is written again as itself', () => {
    const most = 10n ** 21n - 1n;
    fc.assert(
      fc.property(fc.bigInt({ min: -most, max: most }), (value) => {
        expect(isKeptAsDouble(String(value))).toBe(String(Number(value)) === String(value));
      }),
      { numRuns: fuzzRuns(1_000) },
    );
  });

  it('a million digits → decided at once', () => {
    const startedMs = performance.now();
    expect(isKeptAsDouble(`0.${'0'.repeat(1_000_000)}1`)).toBe(false);
    expect(isKeptAsDouble(`1${'0'.repeat(300)}.${'0'.repeat(1_000_000)}`)).toBe(true);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
