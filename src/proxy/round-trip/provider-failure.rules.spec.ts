import { describe, expect, it } from '@jest/globals';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { OwnAddressError } from '../../platform/outbound/guarded-connector.js';
import { BrokenConnection } from '../connections/broken-connection.js';
import { connectionFailure, failureReason, GivenUp, isOurFailure, refusalOf } from './provider-failure.rules.js';

const withCode = (message: string, code: unknown) => Object.assign(new Error(message), { code });

describe('calls without an answer', () => {
  it('no headers in time → 504 that names the time limit', () => {
    expect(refusalOf(new GivenUp('timeout'), 120_000)).toMatchObject({
      code: 'provider_error',
      status: 504,
      reason: 'provider_timeout',
      message: 'The provider did not answer within 120 seconds.',
    });
    expect(refusalOf(new GivenUp('timeout'), 499.9).message).toContain('0.5 seconds');
  });

  it.each([
    ['refused', withCode('connect ECONNREFUSED 10.0.0.7:443', 'ECONNREFUSED'), 'provider_econnrefused'],
    ['reset', withCode('read ECONNRESET', 'ECONNRESET'), 'provider_econnreset'],
    ['closed', new BrokenConnection('closed', '10.0.0.7 closed'), 'provider_closed'],
    ['with an invalid answer', new BrokenConnection('invalid_answer', '10.0.0.7'), 'provider_invalid_answer'],
    ['with too long a head', new BrokenConnection('head_too_large', '10.0.0.7'), 'provider_head_too_large'],
    ['with an invalid request', new BrokenConnection('invalid_request', '10.0.0.7'), 'provider_invalid_request'],
    ['blocked', withCode('10.0.0.7: the address is not public', 'ERR_BLOCKED_ADDRESS'), 'provider_err_blocked_address'],
    ['without a code', new Error('10.0.0.7'), 'provider_unknown'],
    ['with a code that is not text', withCode('10.0.0.7', 42), 'provider_unknown'],
    ['given up by us', new GivenUp('cancelled'), 'provider_cancelled'],
  ])('connection %s → 502; the reason goes to the log, without an address', (_name, error, reason) => {
    const refusal = refusalOf(error, 1_000);
    expect(failureReason(error)).toBe(reason);
    expect(refusal).toMatchObject({ code: 'provider_error', status: 502, reason, cause: error });
    expect(refusal.message).toBe('The provider could not be reached.');
    expect(refusal.data).toBeUndefined();
  });

  it('the address of the gateway itself → 502 that says so, without the address', () => {
    const refusal = refusalOf(new OwnAddressError('models.internal', '10.0.0.7'), 1_000);
    expect(refusal).toMatchObject({ code: 'provider_error', status: 502, reason: 'provider_err_own_address' });
    expect(refusal.message).toMatch(/leads to the gateway itself/);
    expect(refusal.message).not.toContain('10.0.0.7');
  });

  it('an unrequested encoding → 502 that names it', () => {
    expect(refusalOf(new GivenUp('undecodable'), 1_000)).toMatchObject({
      status: 502,
      reason: 'provider_encoding_unknown',
      message: 'The provider answered in an encoding that was not requested.',
    });
  });

  it('silence in the middle of an answer → provider_silent; 504 if none of it has reached the client', () => {
    const silent = connectionFailure(new BrokenConnection('silent', 'the provider went silent'));
    expect([silent.message, failureReason(silent)]).toEqual(['silent', 'provider_silent']);
    expect(refusalOf(silent, 1_000)).toMatchObject({
      status: 504,
      message: 'The provider stopped in the middle of its answer.',
    });
  });

  it.each([
    ['reset', withCode('read ECONNRESET', 'ECONNRESET')],
    ['closed', new BrokenConnection('closed', 'the provider closed the connection')],
    ['of another kind with the code of silence', withCode('silent', 'silent')],
    ['given up by us', new GivenUp('cancelled')],
  ])('any other failure of a connection: %s → unchanged', (_name, failure) => {
    expect(connectionFailure(failure)).toBe(failure);
  });

  it('the service stops → 503 with Retry-After; not a provider failure', () => {
    const interrupted = new GivenUp('interrupted');
    expect([failureReason(interrupted), isOurFailure(interrupted)]).toEqual(['gateway_interrupted', true]);
    expect(refusalOf(interrupted, 1_000)).toMatchObject({
      code: 'service_unavailable',
      status: 503,
      reason: 'gateway_interrupted',
      retryAfterSeconds: 2,
    });
    expect(isOurFailure(new GivenUp('timeout'))).toBe(false);
  });

  it('cannot be recorded → its refusal, or a gateway error; never a provider failure', () => {
    const refusal = new GatewayError('service_unavailable', { reason: 'usage_journal_full' });
    expect(refusalOf(new GivenUp('not_recordable', { cause: refusal }), 1_000)).toBe(refusal);
    const defect = new GivenUp('not_recordable', { cause: new Error('a defect') });
    expect(refusalOf(defect, 1_000)).toMatchObject({ code: 'internal_error', status: 500 });
  });
});
