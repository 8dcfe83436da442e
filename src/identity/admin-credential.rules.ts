import { GatewayError } from '../common/errors/gateway-error.js';
import { Secret } from '../common/log/secret.js';
import type { ActionSource } from './admin-principal.js';

const CHALLENGE = 'Bearer realm="management"';
const INVALID_TOKEN_CHALLENGE = `${CHALLENGE}, error="invalid_token"`;
const BEARER = /^bearer +(\S+)$/i;
/** The random part is at least 128 bits. The upper bound keeps oversized input away from the database. */
const MANAGEMENT_KEY = /^gw_mgmt_[A-Za-z0-9_-]{22,200}$/;

/**
 * The management key of a request.
 *
 * @param header the `Authorization` header; a repeated header is refused before any guard runs.
 * @throws auth_required missing, another scheme, or a credential of another kind.
 * Source: docs/reference/management-api.md#management-credentials.
 */
export function readManagementKey(header: string | undefined): Secret {
  if (header === undefined) throw refusal('credential_missing', CHALLENGE);
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw refusal('scheme_not_supported', CHALLENGE);
  if (!MANAGEMENT_KEY.test(token)) throw refusal('not_a_management_key', INVALID_TOKEN_CHALLENGE);
  return new Secret(token);
}

/** Refusal of a well-formed key that is unknown, revoked or expired, or whose owner left the account. */
export function managementKeyRefused(): GatewayError {
  return refusal('management_key_unknown', INVALID_TOKEN_CHALLENGE);
}

/** Refusal of a console request without a valid session. */
export function notSignedIn(reason: 'credential_missing' | 'console_header_missing' | 'session_unknown'): GatewayError {
  return refusal(reason, CHALLENGE);
}

/** The client program that used a key. The header is a label in records and grants nothing. */
export function actionSourceOf(client: string | readonly string[] | undefined): ActionSource {
  return client === 'cli' || client === 'mcp' ? client : 'api';
}

function refusal(reason: string, challenge: string): GatewayError {
  return new GatewayError('auth_required', { reason, headers: { 'www-authenticate': challenge } });
}
