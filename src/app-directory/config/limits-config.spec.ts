import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { objectOf } from '../../common/fields/config-fields.js';
import { isLimited, Limits, MAX_MONTHLY_USD, toMicroUsd, UNLIMITED } from './limits-config.js';

const read = (raw: unknown) => objectOf(Limits)(raw, 'l');
const monthly = (monthly_usd: unknown) => read({ per_app: { spending: { monthly_usd } } }).per_app.spending.monthly_usd;

describe('limits', () => {
  it.each([{}, { per_user: {}, per_app: {} }, { per_app: { requests: {}, spending: {} } }])('%j → unlimited', (raw) => {
    expect(read(raw)).toEqual({ per_user: UNLIMITED, per_app: UNLIMITED });
  });

  it.each([
    [{ per_user: { requests: { per_minute: 0 } } }, 'l.per_user.requests.per_minute: must be at least 1'],
    [{ per_app: { requests: { per_day: 1.5 } } }, 'l.per_app.requests.per_day: must be an integer'],
    [{ per_app: { requests: { per_hour: 1 } } }, 'l.per_app.requests.per_hour: is not a known field'],
    [{ per_app: { spending: { monthly_usd: '5' } } }, 'l.per_app.spending.monthly_usd: must be a number'],
    [{ per_key: {} }, 'l.per_key: is not a known field'],
    [{ per_app: null }, 'l.per_app: must be an object'],
    [null, 'l: must be an object'],
  ])('%j → %s', (raw, message) => {
    expect(() => read(raw)).toThrow(message);
  });
});

describe('limits: monthly_usd', () => {
  it.each([0, 0.000001, 0.1, 0.07, 19.99, 1234.567891, MAX_MONTHLY_USD])('%d → accepted as it is', (usd) => {
    expect(monthly(usd)).toBe(usd);
  });

  it.each([
    [-0.01, 'must be at least 0'],
    [0.0000001, 'must have at most six decimals'],
    [1.0000005, 'must have at most six decimals'],
    [MAX_MONTHLY_USD + 1, `must be at most ${MAX_MONTHLY_USD}`],
    [1e300, `must be at most ${MAX_MONTHLY_USD}`],
    [Number.POSITIVE_INFINITY, 'must be a number'],
  ])('%d → %s', (usd, problem) => {
    expect(() => monthly(usd)).toThrow(`l.per_app.spending.monthly_usd: ${problem}`);
  });

  it('any whole number of microdollars, written as dollars → survives, and its nano-dollars are exact', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_MONTHLY_USD * 1_000_000 }), (microUsd) => {
        expect(toMicroUsd(Number(monthly(microUsd / 1_000_000)))).toBe(microUsd);
        expect(Number.isSafeInteger(microUsd * 1000)).toBe(true);
      }),
    );
  });
});

describe('isLimited', () => {
  it.each([
    [{}, false],
    [{ requests: { per_minute: 1 } }, true],
    [{ requests: { per_day: 1 } }, true],
    [{ spending: { monthly_usd: 0 } }, true],
  ])('%j → %s', (scope, limited) => {
    expect(isLimited(read({ per_user: scope }).per_user)).toBe(limited);
  });
});
