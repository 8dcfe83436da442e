import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { statedForClient } from './framework-client.rules.js';

const failed = new GatewayError('attest_failed', { reason: 'signature_invalid' });
const blocked = new GatewayError('auth_required', { status: 403, reason: 'user_blocked' });

describe('statuses that the framework’s client knows', () => {
  it.each([
    ['a failed proof', failed, 'token_exchange', 401],
    ['a failed proof', failed, 'register', 403],
    ['a blocked user', blocked, 'token_exchange', 401],
    ['a blocked user', blocked, 'register', 401],
    ['an old version', new GatewayError('app_version_too_old'), 'token_exchange', 403],
    ['a disabled application', new GatewayError('app_disabled'), 'token_exchange', 403],
    ['clocks that disagree', new GatewayError('internal_error', { reason: 'clocks_disagree' }), 'register', 503],
    ['a defect', new GatewayError('internal_error'), 'register', 500],
  ] as const)('%s (%#) → its status, and its reason in the log', (_, error, step, status) => {
    expect(statedForClient(error, step)).toMatchObject({ status, reason: error.reason });
  });

  it('any other error → as it is', () => {
    const error = new TypeError();
    expect(statedForClient(error, 'register')).toBe(error);
  });
});
