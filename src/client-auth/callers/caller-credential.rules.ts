import type { IncomingHttpHeaders } from 'node:http';
import { isDotSegment } from '../../app-directory/user-id.rules.js';
import { GatewayError, invalidRequest } from '../../common/errors/gateway-error.js';

/** A credential as sent, without `Bearer` and surrounding blanks. */
export interface SentCredential {
  readonly value: string;
  /** In lower case. */
  readonly header: string;
}

const BEARER = /^bearer[ \t]+/i;
const EMPTY_BEARER = /^bearer$/i;
/** Longer than any valid key or token, including a token with the longest user id, fully escaped. */
const MAX_CREDENTIAL_CHARACTERS = 8_704;
const USER_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * The first header with a value is the credential, and no other header is tried; `undefined` when none has a value.
 *
 * @param names header names in lower case, in order of precedence.
 * @throws auth_required the value is too long for a valid credential.
 * Source: docs/reference/application-api.md#credential-headers.
 */
export function findCredential(headers: IncomingHttpHeaders, names: readonly string[]): SentCredential | undefined {
  for (const header of names) {
    const sent = headers[header];
    if (typeof sent !== 'string') continue;
    const value = sent.trim().replace(BEARER, '').trim();
    if (value === '' || EMPTY_BEARER.test(value)) continue;
    if (value.length > MAX_CREDENTIAL_CHARACTERS) throw tooLong();
    return { value, header };
  }
  return undefined;
}

/** As {@link findCredential}. @throws auth_required also when no header has a value. */
export function requireCredential(headers: IncomingHttpHeaders, names: readonly string[]): SentCredential {
  const credential = findCredential(headers, names);
  if (credential === undefined) throw missing();
  return credential;
}

function missing(): GatewayError {
  return new GatewayError('auth_required', {
    message: 'A credential is required: send a gateway token or an API key as "Authorization: Bearer <credential>".',
    reason: 'credential_missing',
  });
}

function tooLong(): GatewayError {
  return new GatewayError('auth_required', {
    message: 'The credential is longer than any gateway token or API key.',
    reason: 'credential_too_long',
  });
}

/**
 * The user id that a backend sends.
 *
 * @param name the application's end-user header, in lower case.
 * @throws invalid_request missing, or not 1 to 128 printable ASCII characters without spaces, or a dot segment.
 * Source: docs/reference/management-api.md#authentication-configuration,
 * docs/reference/application-api.md#end-user-header.
 */
export function requireNamedUser(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  if (value === undefined) throw invalidRequest(name, 'header is required', 'end_user_header_missing');
  if (typeof value !== 'string' || !USER_ID.test(value)) {
    throw invalidRequest(name, 'must be 1 to 128 printable ASCII characters without spaces', 'end_user_header_invalid');
  }
  if (isDotSegment(value)) throw invalidRequest(name, 'must not be "." or ".."', 'end_user_header_invalid');
  return value;
}
