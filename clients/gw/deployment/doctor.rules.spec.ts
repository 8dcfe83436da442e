import { describe, expect, it } from '@jest/globals';
import { Failure } from '../program/failure.js';
import { addressCheck, loginCheck, refusedProviderCheck, settingsChecks } from './doctor.rules.js';

const refused = (code: string) => new Failure(4, code, 'No.', { nextAction: 'Do that.' });

describe('gw doctor', () => {
  it('a provider that refuses its key → failed, with advice on how to replace it', () => {
    const { state, nextAction } = refusedProviderCheck('openai', refused('provider_key_invalid'));
    expect([state, nextAction]).toEqual(['failed', 'Replace its key: gw provider rotate-key openai']);
  });

  it.each(['grant_insufficient', 'forbidden', 'rate_limited', 'service_unavailable', 'http_502', 'unreachable'])(
    'a test that %s prevents → not checked, and the key is not blamed',
    (code) => {
      const check = refusedProviderCheck('openai', refused(code));
      expect([check.state, check.nextAction]).toEqual(['unknown', 'Do that.']);
    },
  );

  it.each([
    ['https://gateway.example.com', 'ok'],
    ['http://127.0.0.1:8080', 'ok'],
    ['http://gateway.example.com', 'warning'],
    ['http://localhost.example.com', 'warning'],
  ])('the address %s → %s', (url, state) => {
    expect(addressCheck(url).state).toBe(state);
  });

  it.each([
    ['http://127.0.0.1:8080', 'http://localhost:8080', 'ok'],
    ['http://127.0.0.1:8080', 'http://localhost:8081', 'warning'],
    ['https://gateway.example.com', 'http://localhost:8080', 'warning'],
  ])('called at %s, public URL %s → %s', (url, apiUrl, state) => {
    const capabilities = { serverVersion: '1', deployment: { apiUrl }, features: { browserLogin: true } };
    const checks = settingsChecks({ url, capabilities } as Parameters<typeof settingsChecks>[0], '1');
    expect(checks.find(({ check }) => check === 'public address')?.state).toBe(state);
  });

  it('no login → a warning; a refused login → failed', () => {
    expect(loginCheck(refused('not_logged_in')).state).toBe('warning');
    expect(loginCheck(refused('auth_required')).state).toBe('failed');
  });
});
