import { describe, expect, it } from '@jest/globals';
import { NO_CHARGE } from '../../pricing/model-price.js';
import type { CallEnding, UsageAdmission } from '../../usage/usage-event.js';
import { endingOf, maxChargeOf, outcomeOf } from './call-outcome.rules.js';

describe('ending of a call', () => {
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
    const call = { ending, clientAborted, price: NO_CHARGE, hostedTools: [], reading: undefined };
    const attempt = { providerSlug: 'openai', model: 'm', status: null, latencyMs: 5, error };
    return outcomeOf(attempt, { ...call, contentType: '', bytes: 0 }).status;
  };

  it('complete, or ended by its client or by a stop → ok', () => {
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
