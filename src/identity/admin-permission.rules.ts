import type { Instant } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import type { AccessDeclaration } from '../common/http/access.js';
import type { Grant, Role } from './admin-principal.js';

/** What a management route asks for: `read` = any member and any grant; `write` = owner or admin with `manage`. */
export type AdminNeed = 'read' | 'write';

/** What may narrow a management route further. */
export type AdminDemands = Pick<AccessDeclaration, 'needs' | 'role' | 'credential'>;

/** What is judged of a caller. */
interface JudgedCaller {
  readonly role: Role;
  readonly grant: Grant;
  readonly credentialType: 'apiKey' | 'session' | 'oauth';
}

const RANKS: Readonly<Record<Role, number>> = { member: 0, admin: 1, owner: 2 };

/**
 * Whether a role may do everything that another may.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export function isAtLeast(role: Role, other: Role): boolean {
  return RANKS[role] >= RANKS[other];
}

/**
 * Refuses a caller who may not do this; the role is judged first, then the kind of credential, then its grant.
 *
 * @throws forbidden the role is too low, or a browser session where a key is meant.
 * @throws session_required a key or connection where only a signed-in person may.
 * @throws grant_insufficient the credential only reads.
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

/** The refusal of a credential that is no signed-in person. */
export function sessionRequired(): GatewayError {
  return new GatewayError('session_required', { reason: 'credential_not_interactive' });
}

/**
 * Lets nobody act in an account whose time is over.
 *
 * @param expiresAt null: it has no end.
 * @throws account_expired
 * Source: docs/reference/management-api.md#unclaimed-accounts.
 */
export function requireUnexpired(expiresAt: Instant | null, nowMs: number): void {
  if (expiresAt !== null && expiresAt.getTime() <= nowMs) throw new GatewayError('account_expired');
}
