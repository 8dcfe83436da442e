import { GatewayError } from '../../common/errors/gateway-error.js';
import { type Reason, unlistedReason } from '../../common/errors/reasons.js';
import { systemErrorCode } from '../../common/errors/system-error-code.js';
import { OwnAddressError } from '../../platform/outbound/guarded-connector.js';
import type { AnswerLoss } from '../../usage/recording/usage-event.js';
import { BrokenConnection } from '../connections/broken-connection.js';

/** Why the gateway aborted a call; passed to the connection and recognised when it is reported as the error. */
export class GivenUp extends Error {
  constructor(
    readonly why: 'client_left' | 'timeout' | 'silent' | 'cancelled' | 'interrupted' | 'not_recordable' | 'undecodable',
    options?: ErrorOptions,
  ) {
    super(why, options);
    this.name = 'GivenUp';
  }
}

/** {@link failureReason} of a call without response headers in time. */
const TIMED_OUT = 'provider_timeout';

/** {@link failureReason} of a call whose answer started and then stalled for too long. */
const WENT_SILENT = 'provider_silent';

/** {@link failureReason} of a call that ended because the process stopped. */
export const INTERRUPTED = 'gateway_interrupted';

/** Approximate time from a stop until the next start serves requests. */
const STOPPING_RETRY_SECONDS = 2;

/** Maps a connection error: the limits of time become `GivenUp`. */
export function connectionFailure(error: Error): Error {
  const isLate = error instanceof BrokenConnection && (error.code === 'timeout' || error.code === 'silent');
  return isLate ? new GivenUp(error.code, { cause: error }) : error;
}

/** {@link failureReason} of a call whose answer had an unsupported encoding. */
const UNREADABLE = 'provider_encoding_unknown';

/** Why an answer was not read to its end. @param failure from {@link failureReason}. */
export function lossOf(failure: string): AnswerLoss {
  switch (failure) {
    case TIMED_OUT:
      return 'provider_timeout';
    case WENT_SILENT:
      return 'provider_silent';
    case UNREADABLE:
      return 'answer_unreadable';
    case INTERRUPTED:
      return INTERRUPTED;
    default:
      return 'provider_reset';
  }
}

/** Whether a provider closed a kept connection as the request was sent, so that it did not see the request. */
export function isKeepAliveRace(error: Error): boolean {
  return error instanceof BrokenConnection && error.isKeepAliveRace;
}

/** Whether no response headers arrived in time. */
export function isTimeout(error: Error): boolean {
  return error instanceof GivenUp && error.why === 'timeout';
}

/**
 * Whether the gateway caused the failure, because it cannot record requests or is stopping: no provider may be called
 * for the request.
 */
export function isOurFailure(error: Error): boolean {
  return error instanceof GivenUp && (error.why === 'not_recordable' || error.why === 'interrupted');
}

/** Failure reason of a call without an answer, as one word for records and logs. */
export function failureReason(error: Error): Reason {
  if (!(error instanceof GivenUp))
    return unlistedReason(`provider_${systemErrorCode(error)?.toLowerCase() ?? 'unknown'}`);
  if (error.why === 'interrupted') return INTERRUPTED;
  return error.why === 'undecodable' ? UNREADABLE : `provider_${error.why}`;
}

/**
 * The client's error for a call without an answer; the detailed reason appears in the log.
 *
 * @param timeoutMs the time limit until response headers.
 * Source: docs/reference/application-api.md#provider-failures.
 */
export function refusalOf(error: Error, timeoutMs: number): GatewayError {
  const reason = failureReason(error);
  if (error instanceof OwnAddressError) {
    const message = 'The base URL of the provider leads to the gateway itself; give it the address of the provider.';
    return new GatewayError('provider_error', { message, reason, cause: error });
  }
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
      const message = 'The provider answered in an encoding that was not requested.';
      return new GatewayError('provider_error', { message, reason });
    }
    case 'interrupted': {
      const message = 'The service is stopping; try again shortly.';
      return new GatewayError('service_unavailable', {
        message,
        reason: INTERRUPTED,
        retryAfterSeconds: STOPPING_RETRY_SECONDS,
      });
    }
    case 'not_recordable':
      return error.cause instanceof GatewayError
        ? error.cause
        : new GatewayError('internal_error', { cause: error.cause });
    default:
      return new GatewayError('provider_error', { reason, cause: error });
  }
}
