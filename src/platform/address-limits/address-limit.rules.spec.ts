import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ADDRESS_LIMITS, addressLimitRefusal, counterName, windowAt } from './address-limit.rules.js';

describe('address limits: the table', () => {
  it('every limit → its calls and its window', () => {
    expect(
      Object.entries(ADDRESS_LIMITS).map(([scope, { limit, windowSeconds }]) => [scope, limit, windowSeconds]),
    ).toEqual([
      ['app_auth_challenge', 60, 60],
      ['app_auth_register', 60, 60],
      ['app_auth_token', 60, 60],
      ['sign_in_address', 10, 60],
      ['passkey_challenge', 30, 60],
      ['sign_in_email', 10, 600],
      ['password_reset', 10, 600],
      ['claim', 10, 60],
      ['bootstrap', 3, 86_400],
      ['login', 20, 3_600],
      ['operation', 10, 60],
      ['submission', 10, 60],
      ['user_code', 10, 60],
      ['user_code_wrong', 10, 60],
      ['user_code_total', 600, 3_600],
      ['oauth_authorize', 30, 600],
      ['invitation', 10, 60],
    ]);
  });
});

describe('address limits: windows aligned to the clock', () => {
  it('any instant → within its window, which starts at a multiple of its length', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 8e12 }), fc.constantFrom(60, 600, 3_600, 86_400), (nowMs, seconds) => {
        const { startMs, endMs } = windowAt(nowMs, seconds);
        expect(startMs % (seconds * 1000)).toBe(0);
        expect(endMs - startMs).toBe(seconds * 1000);
        expect(startMs <= nowMs && nowMs < endMs).toBe(true);
      }),
    );
  });

  it('the last millisecond and the next → two windows', () => {
    const minute = Date.UTC(2030, 0, 1, 10, 0);
    expect(windowAt(minute + 59_999, 60).startMs).toBe(minute);
    expect(windowAt(minute + 60_000, 60).startMs).toBe(minute + 60_000);
  });
});

describe('address limits: refusal', () => {
  const startMs = Date.UTC(2030, 0, 1, 10, 0);
  const window = { startMs, endMs: startMs + 60_000 };

  it('within the window → 429 rate_limited with exact data and the same Retry-After', () => {
    expect(addressLimitRefusal('app_auth_token', window, startMs + 20_250)).toMatchObject({
      code: 'rate_limited',
      status: 429,
      reason: 'address_limit_reached',
      message:
        'Too many requests: at most 60 token exchanges per 60 seconds are allowed for this application from one address.',
      data: {
        scope: 'app_auth_token',
        limit: 60,
        windowSeconds: 60,
        retryAfterSeconds: 40,
        resetAt: '2030-01-01T10:01:00.000Z',
      },
      retryAfterSeconds: 40,
    });
  });

  it('any instant of the window → whole seconds, at least 1, after which the window has ended', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 59_999 }), (passedMs) => {
        const { retryAfterSeconds = 0 } = addressLimitRefusal('app_auth_challenge', window, startMs + passedMs);
        expect(Number.isInteger(retryAfterSeconds) && retryAfterSeconds >= 1 && retryAfterSeconds <= 60).toBe(true);
        expect(startMs + passedMs + retryAfterSeconds * 1000).toBeGreaterThanOrEqual(window.endMs);
      }),
    );
  });
});

describe('address limits: names of counters', () => {
  it('one caller → always the same name, which does not contain the address', () => {
    const name = counterName('app_auth_token', { app: 'my-app', subject: '198.51.100.9' });
    expect(name).toBe(counterName('app_auth_token', { app: 'my-app', subject: '198.51.100.9' }));
    expect(name).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it('another policy, application or address → another name, in whatever spelling of the application', () => {
    const address = fc.constantFrom('198.51.100.9', '2a00:2a01:5:6::/64', '2a01:5:6:0::/64', 'local');
    const app = fc.option(fc.oneof(fc.string(), fc.constantFrom('a', 'a:2a00', 'a\n', '2a00')), { nil: undefined });
    const scope = fc.constantFrom('app_auth_token' as const, 'app_auth_register' as const);
    const caller = fc.tuple(scope, address, app);
    fc.assert(
      fc.property(caller, caller, ([scope1, address1, app1], [scope2, address2, app2]) => {
        const same = scope1 === scope2 && address1 === address2 && (app1 ?? '') === (app2 ?? '');
        const names = [
          counterName(scope1, { subject: address1, app: app1 }),
          counterName(scope2, { subject: address2, app: app2 }),
        ];
        expect(names[0] === names[1]).toBe(same);
      }),
    );
  });
});
