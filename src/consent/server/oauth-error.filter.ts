import { Catch } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { ShownErrorFilter } from '../../common/errors/shown-error.filter.js';

/** Codes of token requests. Source: RFC 6749 5.2, RFC 8707 2. */
export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_target';

/** A refused token request. */
export class OAuthError extends GatewayError {
  constructor(
    readonly error: OAuthErrorCode,
    description: string,
    headers?: Readonly<Record<string, string>>,
  ) {
    super('invalid_request', {
      message: description,
      reason: `oauth_${error}`,
      status: error === 'invalid_client' ? 401 : 400,
      ...(headers === undefined ? {} : { headers }),
    });
  }
}

/** Sends every error of these routes in the form that OAuth clients read (ADR 0057). */
@Catch()
export class OAuthErrorFilter extends ShownErrorFilter {
  protected readonly contentType = 'application/json; charset=UTF-8';

  protected bodyOf(error: GatewayError): string {
    // Double quotes and backslashes are not allowed there (RFC 6749 5.2).
    return JSON.stringify({ error: nameOf(error), error_description: error.message.replace(/["\\]/g, "'") });
  }
}

function nameOf(error: GatewayError): string {
  if (error instanceof OAuthError) return error.error;
  if (error.status === 403) return 'access_denied';
  if (error.status === 503 || error.status === 429) return 'temporarily_unavailable';
  return error.status >= 500 ? 'server_error' : 'invalid_request';
}
