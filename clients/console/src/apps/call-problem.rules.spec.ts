import { describe, expect, it } from '@jest/globals';
import { problemOfAnswer, problemOfEvent } from './call-problem.rules.js';

const refusal = (code: string) => JSON.stringify({ error: { code, message: 'Of the gateway.' } });

describe('why a call did not succeed', () => {
  it.each([
    [200, 'Good morning', undefined],
    [200, '', 'model'],
    [401, refusal('auth_required'), 'key'],
    [401, '{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}', 'provider'],
    [403, '{"type":"error","error":{"type":"permission_error","message":"No."}}', 'provider'],
    [403, refusal('model_not_allowed'), 'proxy'],
    [400, refusal('pricing_not_configured'), 'model'],
    [404, '{"error":{"message":"no such model","code":"model_not_found"}}', 'model'],
    [429, refusal('app_budget_exhausted'), 'limits'],
    [429, '{"error":{"code":"insufficient_quota","message":"You exceeded your quota"}}', 'none'],
    [502, refusal('provider_error'), 'provider'],
    [503, '<html>busy</html>', 'none'],
    [400, '[{"error":{"code":400,"message":"API key not valid"}}]', 'provider'],
  ])('%s %s → fixed at %s', (status, text, remedy) => {
    expect(problemOfAnswer(status, text)?.remedy).toBe(remedy);
  });

  it('the message of a provider → shown without its format; pages and bodies of unknown formats → not shown', () => {
    const said = (text: string) => problemOfAnswer(401, text)?.text ?? '';
    expect(said('{"error":{"message":"Incorrect API key"}}')).toMatch(/It says: “Incorrect API key”$/);
    expect(said('{"error":"denied"}')).toMatch(/“denied”$/);
    expect(said('plainly no')).toMatch(/“plainly no”$/);
    for (const text of ['<html>no</html>', '{"why":{"deep":1}}', '', 'null', '{"error":null}']) {
      expect(said(text)).toBe('The provider refuses its key. Correct the key.');
    }
    expect(said('x'.repeat(1_000)).length).toBeLessThan(400);
  });

  it('recorded calls → all except successful ones are problems', () => {
    expect(problemOfEvent({ status: 'ok' })).toBeUndefined();
    for (const status of [
      'provider_error',
      'blocked_app_rate',
      'blocked_app_budget',
      'blocked_user',
      'blocked_billing',
    ] as const) {
      expect(problemOfEvent({ status })?.text).toMatch(/^A call arrived, and/);
    }
  });
});
