import type { FastifyRequest } from 'fastify';

/**
 * What a member may be in one account, weakest last. `member` only reads.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export const ROLES = ['owner', 'admin', 'member'] as const;

/** A member's role in one account. */
export type Role = (typeof ROLES)[number];

/**
 * What a credential may do at most, whatever the role of its owner.
 *
 * Source: docs/reference/management-api.md#management-keys.
 */
export const GRANTS = ['read', 'manage'] as const;

export type Grant = (typeof GRANTS)[number];

/** Through which door an action came. A label for people, never a permission. */
export const ACTION_SOURCES = ['web', 'api', 'cli', 'mcp', 'system'] as const;

export type ActionSource = (typeof ACTION_SOURCES)[number];

/** Who acted, as records keep it. Source: docs/reference/management-api.md#management-credentials. */
interface Actor {
  readonly type: 'user';
  readonly id: string;
  readonly kind: 'human' | 'service';
  readonly credentialId: string | null;
  readonly actionSource: ActionSource;
}

/** The proven caller of a management route: one identity, in one account, with its role of this moment. */
export interface AdminPrincipal {
  readonly organizationId: string;
  readonly identityId: string;
  readonly role: Role;
  readonly grant: Grant;
  readonly credentialType: 'apiKey' | 'session' | 'oauth';
  readonly credentialId: string;
  readonly actor: Actor;
}

/** A signed-in person, who may belong to no organization. */
export interface PersonPrincipal {
  readonly identityId: string;
  readonly sessionId: string;
  /** The organization they act in at the moment; it may be past its end. */
  readonly organizationId: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the credential guard of management routes. */
    admin?: AdminPrincipal;
    /** Set by the guard of routes for whoever is signed in. */
    person?: PersonPrincipal;
  }
}

/**
 * The caller a credential guard has proven.
 *
 * @throws Error when no credential guard ran: the route lacks its access decorator, which is our defect (500).
 */
export function requireAdmin(request: FastifyRequest): AdminPrincipal {
  if (request.admin === undefined) throw new Error('No credential guard ran before this management route.');
  return request.admin;
}

/**
 * The person a guard has proven.
 *
 * @throws Error when no guard ran: the route lacks its access decorator, which is our defect (500).
 */
export function requirePerson(request: FastifyRequest): PersonPrincipal {
  if (request.person === undefined) throw new Error('No guard proved a person before this route.');
  return request.person;
}

/**
 * Whom a guard has proven: somebody in one account, or a person without one.
 *
 * @throws Error when no guard ran: the route lacks its access decorator, which is our defect (500).
 */
export function requireIdentity(request: FastifyRequest): AdminPrincipal | PersonPrincipal {
  return request.admin ?? requirePerson(request);
}
