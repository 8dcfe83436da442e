import { describe, expect, it } from '@jest/globals';
import { Failure } from '../program/failure.js';
import { adviceOn, adviceOnCall } from './advice.rules.js';

const refused = (code: string, message = 'No.', details = {}) => new Failure(4, code, message, { details });
const at = (command: string, more = {}) => ({ command, hasEnvironmentKey: false, ...more });

describe('advice on a refusal', () => {
  it.each([
    ['auth_required', at('app list'), 'gw account login'],
    ['auth_required', at('app list', { hasEnvironmentKey: true }), 'GW_MANAGEMENT_KEY'],
    ['auth_required', at('deployment connect'), 'management key'],
    ['grant_insufficient', at('app add'), 'may only read'],
    ['grant_insufficient', at('app add', { hasEnvironmentKey: true }), 'GW_MANAGEMENT_KEY may only read'],
    ['provider_key_invalid', at('provider test', { subject: 'openai' }), 'gw provider rotate-key openai'],
    ['provider_key_invalid', at('provider add'), 'Check the key'],
    ['not_found', at('provider-gateway remove'), 'gw provider-gateway list'],
    ['not_found', at('app key revoke', { subject: 'notes' }), 'gw app key list notes'],
    ['not_found', at('app show'), 'gw app list'],
    ['conflict', at('apply'), 'gw plan'],
    ['conflict', at('webhook create'), 'gw webhook list'],
    ['conflict', at('webhook resend', { subject: 'on-call' }), 'gw webhook edit on-call --status enabled'],
    ['not_found', at('webhook resend'), 'gw webhook list'],
    ['slug_taken', at('provider add'), '--slug'],
  ])('%s at %j → %s', (code, place, advice) => {
    expect(adviceOn(refused(code), place)).toContain(advice);
  });

  it('a key that may only read → no advice about a provider key', () => {
    expect(adviceOn(refused('grant_insufficient'), at('doctor'))).not.toContain('rotate');
  });

  it('an invalid option → its name; an invalid member without an option → nothing', () => {
    const place = at('provider add', { options: ['--base-url'] });
    expect(adviceOn(refused('invalid_request', 'baseUrl: must be https'), place)).toBe('Correct --base-url.');
    expect(adviceOn(refused('invalid_request', 'config.limits: no'), place)).toBeNull();
  });

  it('a limit → how long to wait', () => {
    expect(adviceOn(refused('rate_limited', 'No.', { retryAfterSeconds: 20 }), at('app list'))).toContain('20 s');
  });

  it.each(['constructor', 'teapot'])('the code %s → none', (code) => {
    expect(adviceOn(refused(code), at('app list'))).toBeNull();
    expect(adviceOnCall(refused(code), 'notes')).toBeNull();
  });

  it('a refused call → advice about the application, not the account', () => {
    expect(adviceOnCall(refused('auth_required'), 'notes')).toContain('GW_APP_KEY');
    expect(adviceOnCall(refused('model_not_allowed'), 'notes')).toContain('gw app show notes');
    expect(adviceOnCall(refused('invalid_request', 'x-end-user-id: header is required'), 'notes')).toContain('--user');
  });
});
