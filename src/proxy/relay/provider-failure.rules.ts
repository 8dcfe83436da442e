import { errorCode } from '../../common/errors/error-code.js';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** Why a call was given up by us; told to the connection and recognised when it comes back as the error. */
export class GivenUp extends Error {
  constructor(readonly why: 'client_left' | 'timeout' | 'cancelled' | 'not_recordable' | 'undecodable') {
    super(why);
    this.name = 'GivenUp';
  }
}

/** No response headers in time. Source: contract-app 6.11. */
export function timeoutError(timeoutMs: number): GatewayError {
  return new GatewayError('provider_error', {
    status: 504,
    message: `The provider did not answer within ${timeoutMs / 1000} seconds.`,
    reason: 'provider_timeout',
  });
}

/** What a client is told of a call that brought no answer; the granular reason stays in the log. */
export function providerError(error: Error): GatewayError {
  if (error instanceof GivenUp && error.why === 'undecodable') {
    return new GatewayError('provider_error', {
      message: 'The provider answered in an encoding that was not asked for.',
      reason: 'provider_encoding_unknown',
    });
  }
  const code = errorCode(error)?.toLowerCase() ?? 'unknown';
  return new GatewayError('provider_error', { reason: `provider_${code}`, cause: error });
}
