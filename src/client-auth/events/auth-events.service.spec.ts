import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AuthEventDraft } from './auth-event.js';
import { authEventText } from './auth-events.service.js';

const EVENT_ID = '00000000-0000-4000-8000-000000000000';

const draft: AuthEventDraft = {
  organizationId: 'account-1',
  appId: 'notes-abc123',
  userId: 'ann',
  event: 'token_exchange',
  authMethod: 'attest',
  outcome: 'issuer_claims_missing',
  reason: 'claims_missing',
  appVersion: '2.1',
  latencyMs: 12,
  claimDelayMs: 3_000,
  proof: 'key_attestation',
  facts: { os_patch: 202_511 },
  createdAt: new Date('2026-11-20T10:00:00.001Z'),
};

function stored(overrides: Partial<AuthEventDraft> = {}) {
  return JSON.parse(authEventText(EVENT_ID, { ...draft, ...overrides }));
}

describe('columns of an authentication event', () => {
  it('an attempt → every field under its column', () => {
    expect(stored()).toEqual({
      event_id: EVENT_ID,
      organization_id: 'account-1',
      app_id: 'notes-abc123',
      user_id: 'ann',
      event: 'token_exchange',
      auth_method: 'attest',
      outcome: 'issuer_claims_missing',
      reason: 'claims_missing',
      app_version: '2.1',
      latency_ms: 12,
      claim_delay_ms: 3_000,
      proof: 'key_attestation',
      facts: { os_patch: 202_511 },
      created_at: '2026-11-20T10:00:00.001Z',
    });
  });

  it('what is not known → null', () => {
    const nothing = { userId: null, authMethod: null, reason: null, appVersion: null, claimDelayMs: null };
    expect(stored(nothing)).toMatchObject({
      user_id: null,
      auth_method: null,
      reason: null,
      app_version: null,
      claim_delay_ms: null,
    });
  });

  it('a long X-App-Version → its first 64 characters', () => {
    expect(stored({ appVersion: `${'1'.repeat(64)}2` }).app_version).toBe('1'.repeat(64));
  });

  it.each([
    ['NUL', 'a\u0000b', 'ab'],
    ['half a character', 'a\ud83d', 'a\ufffd'],
    ['quotation marks', '"\\"', '"\\"'],
  ])('text with %s → in a form that Postgres can store', (_what, userId, expected) => {
    expect(stored({ userId }).user_id).toBe(expected);
  });

  it.each([
    [-1, 0],
    [0.6, 1],
    [Number.NaN, 0],
    [1e12, 2 ** 31 - 1],
  ])('latency of %d ms → %d, which fits its column', (latencyMs, expected) => {
    expect(stored({ latencyMs }).latency_ms).toBe(expected);
  });

  it.each([
    [-5, 0],
    [1.5, 2],
    [1e300, Number.MAX_SAFE_INTEGER],
  ])('claim delay of %d ms → %d', (claimDelayMs, expected) => {
    expect(stored({ claimDelayMs }).claim_delay_ms).toBe(expected);
  });

  it('any texts → well-formed, without NUL, bounded', () => {
    const text = fc.string({ unit: 'binary', maxLength: 2_000 });
    fc.assert(
      fc.property(text, text, text, text, (userId, outcome, reason, appVersion) => {
        const { user_id, outcome: code, reason: why, app_version } = stored({ userId, outcome, reason, appVersion });
        for (const value of [user_id, code, why, app_version]) {
          expect(value.isWellFormed() && !value.includes('\u0000') && value.length <= 1_024).toBe(true);
        }
      }),
    );
  });
});
