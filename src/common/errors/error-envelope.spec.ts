import { describe, expect, it } from '@jest/globals';
import { errorEnvelope, errorHeaders } from './error-envelope.js';
import { GatewayError } from './gateway-error.js';

describe('error envelope', () => {
  it('plain refusal → code and message; no empty data, no reason, no status', () => {
    const error = new GatewayError('auth_required', { reason: 'key_revoked', cause: new Error('private') });
    expect(errorEnvelope(error)).toBe('{"error":{"code":"auth_required","message":"A valid credential is required."}}');
  });

  it('refusal with data → its flat values as they are', () => {
    const data = { scope: 'user', limit: 5, blocked: true };
    expect(JSON.parse(errorEnvelope(new GatewayError('forbidden', { data })))).toEqual({
      error: { code: 'forbidden', message: 'Your role does not allow this.', data },
    });
  });

  it('message from a client with quotes and line ends → still one JSON value', () => {
    const message = 'a"},"x":{"b\n\u2028';
    expect(JSON.parse(errorEnvelope(new GatewayError('invalid_request', { message }))).error.message).toBe(message);
  });

  it('headers → the JSON type, and those the error names', () => {
    expect(errorHeaders(new GatewayError('auth_required', { headers: { 'www-authenticate': 'Bearer' } }))).toEqual({
      'content-type': 'application/json; charset=UTF-8',
      'www-authenticate': 'Bearer',
    });
  });

  it.each([
    [2, '2'],
    [0.2, '1'],
    [59.001, '60'],
    [0, '0'],
  ])('retry after %d s → whole seconds, rounded up: %s', (retryAfterSeconds, text) => {
    expect(errorHeaders(new GatewayError('service_unavailable', { retryAfterSeconds }))['retry-after']).toBe(text);
  });
});
