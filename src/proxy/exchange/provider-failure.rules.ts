import { errorCode } from '../../common/errors/error-code.js';
import { GatewayError } from '../../common/errors/gateway-error.js';

/** Why a call was given up by us; told to the connection and recognised when it comes back as the error. */
export class GivenUp extends Error {
  constructor(
    readonly why: 'client_left' | 'timeout' | 'silent' | 'cancelled' | 'not_recordable' | 'undecodable' | 'discarded',
    options?: ErrorOptions,
  ) {
    super(why, options);
    this.name = 'GivenUp';
  }
}

/** {@link failureReason} of a call that got no response headers in time. */
export const TIMED_OUT = 'provider_timeout';

/** {@link failureReason} of a call whose answer had begun and of which nothing more came for too long. */
export const WENT_SILENT = 'provider_silent';

/** A connection's failure in our words: one that was given up because the provider went silent says so. */
export function connectionFailure(error: Error): Error {
  return errorCode(error) === 'UND_ERR_BODY_TIMEOUT' ? new GivenUp('silent', { cause: error }) : error;
}

/** No response headers came in time. */
export function isTimeout(error: Error): boolean {
  return error instanceof GivenUp && error.why === 'timeout';
}

/** The request could not be written down: no provider may be called for it. */
export function isNotRecordable(error: Error): boolean {
  return error instanceof GivenUp && error.why === 'not_recordable';
}

/** Why a call brought no answer, in one word for records and the log. */
export function failureReason(error: Error): string {
  if (!(error instanceof GivenUp)) return `provider_${errorCode(error)?.toLowerCase() ?? 'unknown'}`;
  return error.why === 'undecodable' ? 'provider_encoding_unknown' : `provider_${error.why}`;
}

/**
 * What a client is told of a call that brought no answer; the granular reason stays in the log.
 *
 * @param timeoutMs how long the provider had until its response headers.
 * Source: contract-app 6.11.
 */
export function refusalOf(error: Error, timeoutMs: number): GatewayError {
  const reason = failureReason(error);
  if (!(error instanceof GivenUp)) return new GatewayError('provider_error', { reason, cause: error });
  switch (error.why) {
    case 'timeout': {
      const message = `The provider did not answer within ${Math.round(timeoutMs) / 1000} seconds.`;
      return new GatewayError('provider_error', { status: 504, message, reason });
    }
    case 'silent': {
      const message = 'The provider stopped in the middle of its answer.';
      return new GatewayError('provider_error', { status: 504, message, reason });
    }
    case 'undecodable': {
      const message = 'The provider answered in an encoding that was not asked for.';
      return new GatewayError('provider_error', { message, reason });
    }
    case 'not_recordable':
      return error.cause instanceof GatewayError
        ? error.cause
        : new GatewayError('internal_error', { cause: error.cause });
    default:
      return new GatewayError('provider_error', { reason, cause: error });
  }
}
