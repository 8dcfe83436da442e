import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type AuthEventDay,
  daysUntil,
  inOrder,
  toClaimDelay,
  toDaily,
  toTokenExchanges,
} from './auth-event-summary.rules.js';

const DAY_MS = 86_400_000;

function day(overrides: Partial<AuthEventDay> = {}): AuthEventDay {
  return { date: '2026-11-20', event: 'token_exchange', outcome: 'ok', reason: null, count: 1, ...overrides };
}

describe('days of a summary', () => {
  it.each([
    ['2026-11-20T23:59:59.999Z', 1, '2026-11-20', '2026-11-20'],
    ['2026-11-20T00:00:00.000Z', 30, '2026-10-22', '2026-11-20'],
    ['2028-03-01T12:00:00.000Z', 2, '2028-02-29', '2028-03-01'],
    ['2027-01-01T00:00:00.000Z', 365, '2026-01-02', '2027-01-01'],
  ])('at %s, %d days → %s to %s, today included', (now, days, from, to) => {
    expect(daysUntil(new Date(now), days)).toEqual({ from, to });
  });

  it('any instant and number of days → that many days, and the instant is not changed', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4e12 }), fc.integer({ min: 1, max: 365 }), (nowMs, days) => {
        const now = new Date(nowMs);
        const { from, to } = daysUntil(now, days);
        expect((Date.parse(to) - Date.parse(from)) / DAY_MS + 1).toBe(days);
        expect(Math.floor(nowMs / DAY_MS)).toBe(Date.parse(to) / DAY_MS);
        expect(now.getTime()).toBe(nowMs);
      }),
    );
  });
});

describe('token exchanges of a summary', () => {
  it('exchanges → counted with their success rate; registrations are not counted', () => {
    const daily = [
      day({ count: 6 }),
      day({ date: '2026-11-19', count: 1 }),
      day({ outcome: 'issuer_token_rejected', reason: 'token_expired', count: 3 }),
      day({ event: 'register', count: 50 }),
      day({ event: 'register', outcome: 'attest_failed', count: 50 }),
    ];
    expect(toTokenExchanges(daily)).toEqual({ total: 10, ok: 7, success_rate: 0.7 });
  });

  it('total 0 → success_rate null', () => {
    expect(toTokenExchanges([day({ event: 'register' })])).toEqual({ total: 0, ok: 0, success_rate: null });
  });

  it('none ok → success_rate 0', () => {
    expect(toTokenExchanges([day({ outcome: 'internal_error' })]).success_rate).toBe(0);
  });
});

describe('rows of a summary', () => {
  it('counts as Postgres writes them → numbers, in the order of the rows', () => {
    const rows = [day({ count: 3 }), day({ event: 'register', count: 12_000_000_000 })];
    expect(toDaily(rows.map((row) => ({ ...row, count: String(row.count) })))).toEqual(rows);
  });

  it('claim delays → numbers', () => {
    expect(toClaimDelay({ count: '3', avg_ms: '20', p50_ms: '0', p95_ms: '50' })).toEqual({
      count: 3,
      avg_ms: 20,
      p50_ms: 0,
      p95_ms: 50,
    });
  });

  it.each([
    ['a row of nulls', { count: '0', avg_ms: null, p50_ms: null, p95_ms: null }],
    ['no row', undefined],
  ])('no user had to wait, %s → count 0 and nulls', (_what, row) => {
    expect(toClaimDelay(row)).toEqual({ count: 0, avg_ms: null, p50_ms: null, p95_ms: null });
  });

  it('failures in any order → sorted by date, then status', () => {
    const failure = (date: string, status: 'blocked_user' | 'provider_error') => ({ date, status, count: 1 });
    const sorted = [
      failure('2026-11-19', 'provider_error'),
      failure('2026-11-20', 'blocked_user'),
      failure('2026-11-20', 'provider_error'),
    ];
    expect(inOrder(sorted.toReversed())).toEqual(sorted);
  });
});
