import type { FastifyRequest } from 'fastify';

/**
 * Roles in one organization, strongest first. `member` is read-only.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export const ROLES = ['owner', 'admin', 'member'] as const;

export type Role = (typeof ROLES)[number];

/**
 * The upper bound of a credential's permissions, independent of the role of its owner.
 *
 * Source: docs/reference/management-api.md#management-keys.
 */
export const GRANTS = ['read', 'manage'] as const;

export type Grant = (typeof GRANTS)[number];

/** The kind of client behind an action. A label in records, never a permission. */
export const ACTION_SOURCES = ['web', 'api', 'cli', 'mcp', 'system'] as const;

export type ActionSource = (typeof ACTION_SOURCES)[number];

/** The credential type behind an action. Source: docs/reference/management-api.md#management-credentials. */
export const CREDENTIAL_TYPES = ['session', 'apiKey', 'oauth'] as const;

export type CredentialType = (typeof CREDENTIAL_TYPES)[number];

/** The actor as records store it. Source: docs/reference/management-api.md#management-credentials. */
interface Actor {
  readonly type: 'user';
  readonly id: string;
  readonly kind: 'human' | 'service';
  readonly credentialId: string | null;
  readonly actionSource: ActionSource;
}

/** The authenticated caller of a management route: one identity in one organization, with its current role. */
export interface AdminPrincipal {
  readonly organizationId: string;
  readonly identityId: string;
  readonly role: Role;
  readonly grant: Grant;
  readonly credentialType: CredentialType;
  readonly credentialId: string;
  readonly actor: Actor;
}

/** A signed-in person, possibly without an organization. */
export interface PersonPrincipal {
  readonly identityId: string;
  readonly sessionId: string;
  /** The current organization; it may have expired. */
  readonly organizationId: string | null;
}

/**
 * The actor of an action in an organization and its credential. `credentialId` is null when no credential exists yet.
 */
export interface AuditActor extends Pick<AdminPrincipal, 'organizationId' | 'credentialType' | 'actor'> {
  readonly credentialId: string | null;
}

/** A person that acts through a console session. */
export interface ActingPerson {
  readonly identityId: string;
  readonly sessionId: string;
}

/** A person as the actor of an action. */
export function actorOf({ identityId, sessionId }: ActingPerson): AdminPrincipal['actor'] {
  return { type: 'user', id: identityId, kind: 'human', credentialId: sessionId, actionSource: 'web' };
}

/** A person as the actor in the audit trail of one organization. */
export function personActor(organizationId: string, person: ActingPerson): AuditActor {
  return { organizationId, credentialType: 'session', credentialId: person.sessionId, actor: actorOf(person) };
}

/**
 * A service identity that is created with its organization, before it has a credential.
 *
 * @param actionSource the kind of client that created it.
 */
export function newServiceActor(organizationId: string, identityId: string, actionSource: ActionSource): AuditActor {
  return {
    organizationId,
    credentialType: 'apiKey',
    credentialId: null,
    actor: { type: 'user', id: identityId, kind: 'service', credentialId: null, actionSource },
  };
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `AdminCredentialGuard` and `IdentityGuard`. */
    admin?: AdminPrincipal;
    /** Set by `PersonGuard` and `IdentityGuard`. */
    person?: PersonPrincipal;
  }
}

/**
 * The caller that the credential guard authenticated.
 *
 * @throws Error when no credential guard ran: the route lacks its access decorator, a defect (500).
 */
export function requireAdmin(request: FastifyRequest): AdminPrincipal {
  if (request.admin === undefined) throw new Error('No credential guard ran before this management route.');
  return request.admin;
}

/**
 * The person that the guard authenticated.
 *
 * @throws Error when no guard ran: the route lacks its access decorator, a defect (500).
 */
export function requirePerson(request: FastifyRequest): PersonPrincipal {
  if (request.person === undefined) throw new Error('No guard proved a person before this route.');
  return request.person;
}

/**
 * The identity that the guard authenticated: a member of one organization, or a person without one.
 *
 * @throws Error when no guard ran: the route lacks its access decorator, a defect (500).
 */
export function requireIdentity(request: FastifyRequest): AdminPrincipal | PersonPrincipal {
  return request.admin ?? requirePerson(request);
}
