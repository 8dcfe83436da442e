import type { Instant } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { AccessDeclaration } from '../common/http/access.js';
import type { Grant, Role } from './admin-principal.js';

/** Permission of a management route: `read` = any member and any grant; `write` = owner or admin with `manage`. */
export type AdminNeed = 'read' | 'write';

/** The parts of an access declaration that restrict a management route. */
export type AdminDemands = Pick<AccessDeclaration, 'needs' | 'role' | 'credential'>;

interface JudgedCaller {
  readonly role: Role;
  readonly grant: Grant;
  readonly credentialType: 'apiKey' | 'session' | 'oauth';
}

const RANKS: Readonly<Record<Role, number>> = { member: 0, admin: 1, owner: 2 };

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
export function requirePermission(caller: JudgedCaller, { needs, role, credential }: AdminDemands): void {
  const leastRole = role ?? (needs === 'read' ? 'member' : 'admin');
  if (!isAtLeast(caller.role, leastRole)) {
    throw new GatewayError('forbidden', { reason: leastRole === 'owner' ? 'role_not_owner' : 'role_read_only' });
  }
  requireCredential(caller.credentialType, credential);
  if (needs !== 'read' && caller.grant === 'read') {
    throw new GatewayError('grant_insufficient', { reason: 'grant_read_only' });
  }
}

function requireCredential(type: JudgedCaller['credentialType'], wanted: AdminDemands['credential']): void {
  const isSession = type === 'session';
  if (wanted === 'session' && !isSession) throw sessionRequired();
  if (wanted === 'key' && isSession) {
    throw new GatewayError('forbidden', {
      message: 'This is for management keys; a browser session has none to end.',
      reason: 'key_required',
    });
  }
}

/** Refusal of a credential that is not a console session. */
export function sessionRequired(): GatewayError {
  return new GatewayError('session_required', { reason: 'credential_not_interactive' });
}

/**
 * Refuses an expired account.
 *
 * @param expiresAt null: the account does not expire.
 * @throws account_expired
 * Source: docs/reference/management-api.md#unclaimed-accounts.
 */
export function requireUnexpired(expiresAt: Instant | null, nowMs: number): void {
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) throw new GatewayError('account_expired');
}
