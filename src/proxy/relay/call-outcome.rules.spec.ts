import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { aReading } from '../../../test/support/usage/recording/usage.js';
import { NO_CHARGE } from '../../pricing/model-price.js';
import type { CallEnding, UsageAdmission } from '../../usage/recording/usage-event.js';
import { attemptTimeMs, endingOf, isTargetFailure, keptStateOf, maxChargeOf, outcomeOf } from './call-outcome.rules.js';

describe('outcome of a call', () => {
  it.each<[CallEnding, { isSent: boolean; status: number; isWhole: boolean }]>([
    ['unsent', { isSent: false, status: 0, isWhole: false }],
    ['unanswered', { isSent: true, status: 0, isWhole: false }],
    ['refused', { isSent: true, status: 429, isWhole: true }],
    ['cut', { isSent: true, status: 200, isWhole: false }],
    ['whole', { isSent: true, status: 200, isWhole: true }],
  ])('%s', (ending, call) => {
    expect(endingOf(call)).toBe(ending);
  });
});

describe('maximum charge of a target that was replaced', () => {
  const admission: Pick<UsageAdmission, 'sentNanoUsd' | 'maxCostNanoUsd'> = { sentNanoUsd: 3, maxCostNanoUsd: 50 };

  it.each<[CallEnding, number]>([
    ['unsent', 0],
    ['refused', 0],
    ['unanswered', 3],
    ['cut', 50],
  ])('%s → %d', (ending, charge) => {
    expect(maxChargeOf(ending, admission)).toBe(charge);
  });
});

describe('status of a call', () => {
  const statusOf = (ending: CallEnding, error: string | null, clientAborted = false) => {
    const call = { ending, clientAborted, price: NO_CHARGE, hostedTools: [], toolPrices: [], reading: undefined };
    const attempt = { providerSlug: 'openai', model: 'm', status: null, latencyMs: 5, error };
    return outcomeOf(attempt, { ...call, contentType: '', bytes: 0, elapsedMs: 9 }).status;
  };

  it('complete, or ended by its client or by shutdown → ok', () => {
    expect(statusOf('whole', null)).toBe('ok');
    expect(statusOf('cut', null, true)).toBe('ok');
    expect(statusOf('unanswered', null, true)).toBe('ok');
    expect(statusOf('unanswered', 'gateway_interrupted')).toBe('ok');
  });

  it('a failure of the provider → provider_error', () => {
    expect(statusOf('unanswered', 'provider_timeout')).toBe('provider_error');
    expect(statusOf('cut', 'provider_silent')).toBe('provider_error');
    expect(statusOf('refused', null)).toBe('provider_error');
    expect(statusOf('unsent', null, true)).toBe('provider_error');
  });
});

describe('state of a kept answer', () => {
  it.each([
    ['complete', null, true, 'ok'],
    ['failed', null, true, 'provider_error'],
    ['failed', 'provider_silent', false, 'provider_error'],
    ['lost', null, false, 'ok'],
    ['lost', 'gateway_interrupted', false, 'ok'],
  ] as const)('%s: error %s, whole %s, status %s', (state, error, isWhole, status) => {
    expect(keptStateOf(error, isWhole, { status })).toBe(state);
  });
});

describe('duration of a call', () => {
  const durationOf = (ending: CallEnding) => {
    const call = {
      ending,
      clientAborted: false,
      price: NO_CHARGE,
      hostedTools: [],
      toolPrices: [],
      reading: undefined,
    };
    const attempt = { providerSlug: 'openai', model: 'm', status: 200, latencyMs: 5, error: null };
    return outcomeOf(attempt, { ...call, contentType: '', bytes: 0, elapsedMs: 1234.5 }).durationMs;
  };

  it('a complete answer → up to its last byte, in whole milliseconds', () => {
    expect(durationOf('whole')).toBe(1235);
  });

  it.each<CallEnding>(['unsent', 'unanswered', 'refused', 'cut'])('%s → unknown', (ending) => {
    expect(durationOf(ending)).toBeNull();
  });
});

describe('status of a call whose answer reports an error', () => {
  it.each(['before_content', 'after_content'] as const)('%s, with a successful status → provider_error', (failure) => {
    const call = { ending: 'whole' as const, clientAborted: false, price: NO_CHARGE, hostedTools: [], toolPrices: [] };
    const attempt = { providerSlug: 'openai', model: 'm', status: 200, latencyMs: 5, error: null };
    const reading = aReading({ failure });
    expect(outcomeOf(attempt, { ...call, reading, contentType: '', bytes: 0, elapsedMs: 9 }).status).toBe(
      'provider_error',
    );
  });
});

describe('isTargetFailure', () => {
  it.each([429, 500, 502, 503, 504, 529, 599])('status %d → the next target', (status) => {
    expect(isTargetFailure(status)).toBe(true);
  });

  it.each([200, 204, 301, 302, 304, 400, 401, 403, 404, 408, 409, 413, 422, 428, 430, 451, 499])(
    'status %d → final',
    (status) => {
      expect(isTargetFailure(status)).toBe(false);
    },
  );
});

describe('attemptTimeMs (ADR 0015)', () => {
  it.each([
    ['alone', { leftMs: 120, following: 0 }, 120],
    ['one after it', { leftMs: 120, following: 1 }, 90],
    ['two after it', { leftMs: 120, following: 2 }, 60],
    ['three after it', { leftMs: 120, following: 3 }, 30],
    ['more than the reserve can serve → an equal share', { leftMs: 120, following: 4 }, 24],
    ['late, one after it → half of what is left', { leftMs: 20, following: 1 }, 10],
    ['nothing left', { leftMs: 0, following: 2 }, 0],
    ['less than nothing left', { leftMs: -5, following: 0 }, 0],
  ])('of 120: %s', (_name, time, expected) => {
    expect(attemptTimeMs({ totalMs: 120, ...time })).toBe(expected);
  });

  it('any chain in which every target uses all its time → never longer than the total, and each gets its share', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3_600_000 }), fc.integer({ min: 1, max: 11 }), (totalMs, targets) => {
        let leftMs = totalMs;
        for (let following = targets - 1; following >= 0; following--) {
          const timeMs = attemptTimeMs({ totalMs, leftMs, following });
          expect(timeMs).toBeGreaterThanOrEqual((totalMs / Math.max(4, targets)) * 0.999_999);
          leftMs -= timeMs;
        }
        expect(leftMs).toBeGreaterThanOrEqual(-0.001);
      }),
    );
  });
});
