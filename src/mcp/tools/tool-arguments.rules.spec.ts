import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { isCredentialName, nextStep, refuseCredentials, splitArguments } from './tool-arguments.rules.js';

describe('isCredentialName', () => {
  it.each([
    'secret',
    'apiKey',
    'api_key',
    'API-Key',
    'clientSecret',
    'password',
    'access_token',
    'token',
    'Authorization',
    'credentials',
    'private-key',
    'providerKey',
  ])('%s → yes', (name) => {
    expect(isCredentialName(name)).toBe(true);
  });

  it.each([
    'key',
    'keys',
    'name',
    'max_output_tokens',
    'token_header',
    'secretHint',
    'authentication',
    'monkey',
    'user',
  ])('%s → no', (name) => {
    expect(isCredentialName(name)).toBe(false);
  });
});

describe('refuseCredentials', () => {
  it('texts that are named so are no names', () => {
    expect(() => refuseCredentials({ type: 'api_key', list: ['secret', null, 1] })).not.toThrow();
  });
});

describe('splitArguments', () => {
  const tool = { named: { id: 'An id.' }, confirms: 'id' };

  it('named ones, the confirmation, all others', () => {
    expect(splitArguments(tool, { app: 'a', id: 'x', confirm: 'x', limit: 1 })).toEqual({
      named: { id: 'x' },
      members: { limit: 1 },
    });
  });

  it.each([
    [{ confirm: 'x' }, 'id: is required'],
    [{ id: '', confirm: '' }, 'id: must be text'],
    [{ id: 'x', confirm: 'y' }, 'confirm: must repeat id'],
  ])('%j → %s', (sent, message) => {
    expect(() => splitArguments(tool, sent)).toThrow(message);
  });
});

describe('nextStep', () => {
  it.each([
    [new GatewayError('app_not_found'), 'Take the id of an application from list_apps.'],
    [new GatewayError('service_unavailable', { retryAfterSeconds: 1.5 }), 'Call again in 2 seconds.'],
    [new GatewayError('internal_error'), 'Call again later; the log of the gateway says what failed.'],
    [new GatewayError('slug_taken'), 'Do what the message says.'],
  ])('%s → %s', (refusal, next) => {
    expect(nextStep(refusal)).toBe(next);
  });
});
