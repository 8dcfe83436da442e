import { describe, expect, it } from '@jest/globals';
import { ERRORS, type RefusalCode } from './error-catalogue.js';
import { GatewayError, invalidRequest } from './gateway-error.js';

describe('GatewayError', () => {
  it.each(Object.keys(ERRORS) as RefusalCode[])('%s without options → the status and text of the catalogue', (code) => {
    const error = new GatewayError(code);
    expect(error).toMatchObject({ name: 'GatewayError', code, ...ERRORS[code] });
    expect([error.reason, error.data, error.retryAfterSeconds, error.headers, error.cause]).toEqual(
      Array(5).fill(undefined),
    );
  });

  it('everything given by the caller → kept', () => {
    const cause = new Error('socket');
    const options = {
      message: 'Late.',
      reason: 'provider_timeout' as const,
      status: 504,
      data: { a: 1 },
      retryAfterSeconds: 3,
      headers: {},
      cause,
    };
    expect(new GatewayError('provider_error', options)).toMatchObject({ code: 'provider_error', ...options });
  });

  it('a real error → with a stack and its class', () => {
    const error = new GatewayError('not_found');
    expect(error).toBeInstanceOf(Error);
    expect(error.stack).toContain('gateway-error.spec');
  });
});

describe('invalidRequest', () => {
  it('path and problem → 400 with "<dot.path>: <what is wrong>"', () => {
    expect(invalidRequest('limits.per_user', 'must be an object')).toMatchObject({
      code: 'invalid_request',
      status: 400,
      message: 'limits.per_user: must be an object',
      reason: undefined,
    });
    expect(invalidRequest('body', 'is cut', 'body_truncated').reason).toBe('body_truncated');
  });
});
