import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { objectOf } from '../../common/fields/config-fields.js';
import { budgetsOf, isLimited, Limits, MAX_MONTHLY_USD, toMicroUsd, UNLIMITED } from './limits-config.js';

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
    [{ per_app: { spending: { daily_usd: -1 } } }, 'l.per_app.spending.daily_usd: must be at least 0'],
    [{ per_app: { spending: { weekly_usd: 0.0000001 } } }, 'l.per_app.spending.weekly_usd: must have at most six'],
    [{ per_app: { spending: { total_usd: '1' } } }, 'l.per_app.spending.total_usd: must be a number'],
    [{ per_user: { spending: { total_usd: 1 } } }, 'l.per_user.spending.total_usd: is not for users'],
    [{ per_user: { spending: { total_usd: 0 } } }, 'l.per_user.spending.total_usd: is not for users'],
    [{ per_app: { spending: { yearly_usd: 1 } } }, 'l.per_app.spending.yearly_usd: is not a known field'],
    [{ per_app: { spending: { thresholds: [0.8, 0.5] } } }, 'l.per_app.spending.thresholds.1: must be larger than'],
    [{ per_app: { spending: { thresholds: [0.5, 0.5] } } }, 'l.per_app.spending.thresholds.1: must be larger than'],
    [{ per_app: { spending: { thresholds: [0] } } }, 'l.per_app.spending.thresholds.0: must be at least 0.01'],
    [{ per_app: { spending: { thresholds: [1.1] } } }, 'l.per_app.spending.thresholds.0: must be at most 1'],
    [{ per_app: { spending: { thresholds: 0.5 } } }, 'l.per_app.spending.thresholds: must be a list'],
    [{ per_app: null }, 'l.per_app: must be an object'],
    [null, 'l: must be an object'],
  ])('%j → %s', (raw, message) => {
    expect(() => read(raw)).toThrow(message);
  });
});

describe('limits: monthly_usd', () => {
  it.each([0, 0.000001, 0.1, 0.07, 19.99, 1234.567891, MAX_MONTHLY_USD])('%d → accepted unchanged', (usd) => {
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

  it('any whole number of microdollars, written as dollars → is preserved, and its nano-dollars are exact', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_MONTHLY_USD * 1_000_000 }), (microUsd) => {
        expect(toMicroUsd(Number(monthly(microUsd / 1_000_000)))).toBe(microUsd);
        expect(Number.isSafeInteger(microUsd * 1000)).toBe(true);
      }),
    );
  });
});

describe('limits: budgets of other windows', () => {
  it('every window and thresholds → unchanged; null and absent ones → no budget', () => {
    const spending = { monthly_usd: 3, daily_usd: 0.5, weekly_usd: 1, total_usd: 9, thresholds: [0.5, 0.995, 1] };
    expect(read({ per_app: { spending } }).per_app.spending).toEqual(spending);
    const { per_user } = read({ per_user: { spending: { daily_usd: null, total_usd: null } } });
    expect([per_user.spending, budgetsOf(per_user.spending)]).toEqual([
      { monthly_usd: null, daily_usd: null, total_usd: null },
      [],
    ]);
  });
});

describe('isLimited', () => {
  it.each([
    [{}, false],
    [{ requests: { per_minute: 1 } }, true],
    [{ requests: { per_day: 1 } }, true],
    [{ spending: { monthly_usd: 0 } }, true],
    [{ spending: { daily_usd: 0 } }, true],
    [{ spending: { weekly_usd: 1 } }, true],
    [{ spending: { daily_usd: null, thresholds: [0.5] } }, false],
  ])('%j → %s', (scope, limited) => {
    expect(isLimited(read({ per_user: scope }).per_user)).toBe(limited);
  });
});
