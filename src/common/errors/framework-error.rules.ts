import { HttpException } from '@nestjs/common';
import { GatewayError } from './gateway-error.js';
import { systemErrorCode } from './system-error-code.js';

/** Fastify's codes for requests it refuses before any handler, and the matching gateway codes. */
const FASTIFY_REFUSALS: Readonly<Record<string, { code: 'invalid_request' | 'payload_too_large'; message: string }>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: { code: 'payload_too_large', message: 'The request body is too large.' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { code: 'invalid_request', message: 'Content-Length does not match the body.' },
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { code: 'invalid_request', message: 'Content-Type: not a media type.' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { code: 'invalid_request', message: 'body: must not be empty.' },
  FST_ERR_MAX_PARAM_LENGTH: { code: 'invalid_request', message: 'A part of the URL is too long.' },
  FST_ERR_BAD_URL: { code: 'invalid_request', message: 'The URL has a broken percent escape.' },
};

/**
 * Converts a thrown value to the error that the client receives. A `GatewayError` passes; framework errors get the
 * matching code; anything else becomes a generic `internal_error` whose detail only the log shows.
 *
 * @param isServiceTrouble true for an unavailable dependency (503), false for a defect (500).
 */
export function toGatewayError(error: unknown, isServiceTrouble: (error: unknown) => boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  if (error instanceof HttpException) return fromHttpException(error);
  const refusal = FASTIFY_REFUSALS[systemErrorCode(error) ?? ''];
  if (refusal) return new GatewayError(refusal.code, { message: refusal.message, cause: error });
  if (isServiceTrouble(error)) {
    return new GatewayError('service_unavailable', {
      reason: 'database_unavailable',
      retryAfterSeconds: 2,
      cause: error,
    });
  }
  return new GatewayError('internal_error', { cause: error });
}

function fromHttpException(error: HttpException): GatewayError {
  const status = error.getStatus();
  if (status === 404) {
    return new GatewayError('invalid_request', { status: 404, message: 'Route not found', reason: 'route_not_found' });
  }
  // A guard that returns false gives no reason.
  if (status === 403) {
    return new GatewayError('forbidden', { message: 'You may not do this.', reason: 'guard_refused' });
  }
  if (status === 413) return new GatewayError('payload_too_large', { cause: error });
  if (status >= 400 && status < 500) {
    return new GatewayError('invalid_request', { message: 'The request is not valid.', cause: error });
  }
  return new GatewayError('internal_error', { cause: error });
}

/** Detects errors of an unavailable dependency; provided by the platform. */
export abstract class ServiceTrouble {
  abstract isServiceTrouble(error: unknown): boolean;
}
