import { GatewayError } from '../../common/errors/gateway-error.js';
import { isAtLeast } from '../access/admin-access.rules.js';
import { ROLES, type Role } from '../access/admin-principal.js';

const PERSON_ID = /^user_([0-9a-z]{20})$/;

/** In characters. */
export const MAX_ORGANIZATION_NAME = 100;
/** In characters; longer values are refused. */
export const MAX_BOOTSTRAP_KEY = 300;
/** Maximum number of organizations that one person owns. */
const MAX_OWNED_ORGANIZATIONS = 20;

/** A requested change of one membership. */
export interface MemberChange {
  readonly actorRole: Role;
  readonly isSelf: boolean;
  readonly from: Role;
  /** `null` ends the membership. */
  readonly to: Role | null;
}

/**
 * The id of the organization that a person gets at sign-up. It is derived from the person's id, so that there is
 * exactly one.
 *
 * @throws Error when the id is not a person's, a defect.
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export function ownOrganizationId(personId: string): string {
  const random = PERSON_ID.exec(personId)?.[1];
  if (random === undefined) throw new Error('Only people get an organization of their own.');
  return `org_${random}`;
}

/**
 * Enforces the limit of owned organizations.
 *
 * @param owned the current number.
 * @throws conflict
 * Source: OWASP API4:2023.
 */
export function requireOrganizationLimit(owned: number): void {
  if (owned < MAX_OWNED_ORGANIZATIONS) return;
  throw new GatewayError('conflict', {
    message: `You own ${MAX_OWNED_ORGANIZATIONS} organizations, the maximum.`,
    reason: 'too_many_organizations',
  });
}

/**
 * Refuses an actor that may change no membership: a member who is not leaving. It runs before the look-up, so that a
 * read-only role cannot find out who is a member.
 *
 * @throws forbidden
 * Source: docs/reference/management-api.md#order-of-checks, docs/reference/management-api.md#roles-and-grants,
 * docs/reference/security.md#sign-in.
 */
export function requireMayChangeAny({ actorRole, isSelf, to }: Omit<MemberChange, 'from'>): void {
  const isLeaving = isSelf && to === null;
  if (!isLeaving && !isAtLeast(actorRole, 'admin')) throw new GatewayError('forbidden', { reason: 'role_read_only' });
}

/**
 * Refuses a change that the actor's role does not allow. Admins manage members and admins, owners manage everyone, and
 * every member may leave.
 *
 * @throws forbidden
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export function requireMayChange({ actorRole, isSelf, from, to }: MemberChange): void {
  requireMayChangeAny({ actorRole, isSelf, to });
  const isLeaving = isSelf && to === null;
  if (isLeaving) return;
  const concernsOwner = from === 'owner' || to === 'owner';
  if (concernsOwner && actorRole !== 'owner') {
    throw new GatewayError('forbidden', {
      message: 'Only owners add, demote or remove owners.',
      reason: 'role_not_owner',
    });
  }
}

/**
 * Refuses a change that would leave an organization without a human owner. Service identities do not count, because
 * they cannot sign in.
 *
 * @param owners number of human owners before the change.
 * @throws last_owner
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export function requireOwnerLeft(
  member: { readonly kind: 'human' | 'service'; readonly role: Role },
  to: Role | null,
  owners: number,
): void {
  const losesOwner = member.kind === 'human' && member.role === 'owner' && to !== 'owner';
  if (losesOwner && owners <= 1) throw new GatewayError('last_owner', { reason: 'last_owner' });
}

/**
 * Roles that an inviter with this role can no longer offer.
 *
 * @param own null: the inviter has left.
 * Source: docs/reference/security.md#roles-and-routes.
 */
export function rolesBeyond(own: Role | null): Role[] {
  if (own === null || own === 'member') return [...ROLES];
  return ROLES.filter((role) => !isAtLeast(own, role));
}
