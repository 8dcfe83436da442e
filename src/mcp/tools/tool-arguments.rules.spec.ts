import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import {
  currentArguments,
  isCredentialName,
  nextStep,
  refuseCredentials,
  splitArguments,
} from './tool-arguments.rules.js';

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
  it('texts with such names as values are not credentials', () => {
    expect(() => refuseCredentials({ type: 'api_key', list: ['secret', null, 1] })).not.toThrow();
  });

  it('keys of maps are not names; members below them are, named with their path', () => {
    const isMap = (path: readonly string[]) => path.join('.') === 'config.endpoints';
    const sent = { config: { endpoints: { 'reset-password': { slug: 'x' } } } };
    expect(() => refuseCredentials(sent, isMap)).not.toThrow();
    expect(() => refuseCredentials(sent)).toThrow('config.endpoints.reset-password: is named like a credential');
    const below = { config: { endpoints: { 'reset-password': { api_key: 'x' } } } };
    expect(() => refuseCredentials(below, isMap)).toThrow('config.endpoints.reset-password.api_key: is named like');
  });
});

describe('currentArguments', () => {
  const inside = { name: 'config', holdsBody: (value: object) => 'name' in value };

  it.each([
    ['of now', { provider: 'p' }, { sent: { provider: 'p' } }],
    ['of before', { id: 'p', revision: 1 }, { sent: { provider: 'p', revision: 1 } }],
    ['of both', { id: 'x', provider: 'p' }, { sent: { id: 'x', provider: 'p' } }],
  ])('a renamed argument, %s → the current name', (_what, sent, expected) => {
    expect(currentArguments({ formerly: { names: { provider: 'id' } } }, sent)).toEqual(expected);
  });

  it.each([
    ['of now', { name: 'x', config: { a: 1 } }, { sent: { name: 'x', config: { a: 1 } } }],
    [
      'of before',
      { config: { name: 'x', config: {} }, operation: 'op:1' },
      { sent: { name: 'x', config: {}, operation: 'op:1' }, below: 'config' },
    ],
    ['that is not an object', { config: 'x' }, { sent: { config: 'x' } }],
  ])('members inside an argument, %s', (_what, sent, expected) => {
    const tool = { formerly: { inside }, optional: { operation: 'Of the first answer.' } };
    expect(currentArguments(tool, sent)).toEqual(expected);
  });
});

describe('splitArguments', () => {
  const tool = { named: { id: 'An id.' }, confirms: 'id' };

  it('separates named arguments, the confirmation and all others', () => {
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
    [
      new GatewayError('service_unavailable', { reason: 'database_unavailable', retryAfterSeconds: 1.5 }),
      'Call again in 2 seconds.',
    ],
    [new GatewayError('internal_error'), 'Call again later; the log of the gateway says what failed.'],
    [new GatewayError('slug_taken'), 'Do what the message says.'],
  ])('%s → %s', (refusal, next) => {
    expect(nextStep(refusal)).toBe(next);
  });
});
