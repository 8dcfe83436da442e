import type { Instant } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Reason } from '../../common/errors/reasons.js';
import type { AccessDeclaration } from '../../common/http/access.js';
import { Secret } from '../../common/log/secret.js';
import { type PresentedToken, presentedToken } from '../connections/oauth-token.rules.js';
import type { ActionSource, CredentialType, Grant, Role } from './admin-principal.js';

const CHALLENGE = 'Bearer realm="management"';
const INVALID_TOKEN_CHALLENGE = `${CHALLENGE}, error="invalid_token"`;
const BEARER = /^bearer +(\S+)$/i;
const INSUFFICIENT_SCOPE_CHALLENGE = `${CHALLENGE}, error="insufficient_scope", scope="manage"`;
/** The random part is at least 128 bits. The upper bound keeps oversized input away from the database. */
const MANAGEMENT_KEY = /^gw_mgmt_[A-Za-z0-9_-]{22,200}$/;

/** Permission of a management route: `read` = any member and any grant; `write` = owner or admin with `manage`. */
export type AdminNeed = 'read' | 'write';

/** The parts of an access declaration that restrict a management route. */
export type AdminRequirements = Pick<AccessDeclaration, 'needs' | 'role' | 'credential'>;

interface PermittedCaller {
  readonly role: Role;
  readonly grant: Grant;
  readonly credentialType: CredentialType;
}

const RANKS: Readonly<Record<Role, number>> = { member: 0, admin: 1, owner: 2 };

/** A credential of the management API: a management key, or the access token of a connection. */
export type AdminBearer = { readonly key: Secret } | { readonly access: PresentedToken };

/**
 * The management key or access token of a request.
 *
 * @param header the `Authorization` header; a repeated header is refused before any guard runs.
 * @throws auth_required missing, another scheme, or a credential of another kind.
 * Source: docs/reference/management-api.md#management-credentials.
 */
export function readAdminBearer(header: string | undefined): AdminBearer {
  if (header === undefined) throw refusal('credential_missing', CHALLENGE);
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw refusal('scheme_not_supported', CHALLENGE);
  const access = presentedToken(token);
  if (access?.kind === 'access') return { access };
  if (!MANAGEMENT_KEY.test(token)) throw refusal('not_a_management_key', INVALID_TOKEN_CHALLENGE);
  return { key: new Secret(token) };
}

/** Refusal of a well-formed key or token that is unknown, revoked or expired, or whose owner left the organization. */
export function managementKeyRefused(): GatewayError {
  return refusal('management_key_unknown', INVALID_TOKEN_CHALLENGE);
}

/** Refusal of a console request without a valid session. */
export function notSignedIn(reason: 'credential_missing' | 'console_header_missing' | 'session_unknown'): GatewayError {
  return refusal(reason, CHALLENGE);
}

/** Refusal of a sign-in. */
export function signInRefused(reason: Reason, message: string, cause?: unknown): GatewayError {
  return new GatewayError('auth_required', { message, reason, cause, headers: { 'www-authenticate': CHALLENGE } });
}

/** The client program that used a key. The header is a label in records and grants nothing. */
export function actionSourceOf(client: string | readonly string[] | undefined): ActionSource {
  return client === 'cli' || client === 'mcp' ? client : 'api';
}

function refusal(reason: Reason, challenge: string): GatewayError {
  return new GatewayError('auth_required', { reason, headers: { 'www-authenticate': challenge } });
}

/**
 * Whether a role includes all permissions of another.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export function isAtLeast(role: Role, other: Role): boolean {
  return RANKS[role] >= RANKS[other];
}

/**
 * Checks the role first, then the credential type, then its grant.
 *
 * @throws forbidden the role is too low, or the credential is a session where a key is required.
 * @throws session_required the credential is a key or connection where a session is required.
 * @throws grant_insufficient the grant is `read`.
 * Source: docs/reference/management-api.md#order-of-checks, docs/reference/management-api.md#roles-and-grants.
 */
export function requirePermission(caller: PermittedCaller, { needs, role, credential }: AdminRequirements): void {
  const leastRole = role ?? (needs === 'read' ? 'member' : 'admin');
  if (!isAtLeast(caller.role, leastRole)) {
    throw new GatewayError('forbidden', { reason: leastRole === 'owner' ? 'role_not_owner' : 'role_read_only' });
  }
  requireCredential(caller.credentialType, credential);
  if (needs !== 'read' && caller.grant === 'read') {
    const headers = { 'www-authenticate': INSUFFICIENT_SCOPE_CHALLENGE };
    throw new GatewayError('grant_insufficient', {
      reason: 'grant_read_only',
      ...(caller.credentialType === 'oauth' ? { headers } : {}),
    });
  }
}

function requireCredential(type: CredentialType, required: AdminRequirements['credential']): void {
  const isSession = type === 'session';
  if (required === 'session' && !isSession) throw sessionRequired();
  if (required === 'key' && isSession) {
    throw new GatewayError('forbidden', {
      message: 'Only a management key can revoke itself; sign out to end a browser session.',
      reason: 'key_required',
    });
  }
}

/** Refusal of a credential that is not a console session. */
export function sessionRequired(): GatewayError {
  return new GatewayError('session_required', { reason: 'credential_not_interactive' });
}

/**
 * Refuses an expired organization.
 *
 * @param expiresAt null: the organization does not expire.
 * @throws account_expired
 * Source: docs/reference/management-api.md#unclaimed-accounts.
 */
export function requireUnexpired(expiresAt: Instant | null, nowMs: number): void {
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) throw new GatewayError('account_expired');
}
