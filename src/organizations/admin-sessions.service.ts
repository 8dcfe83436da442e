import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { requireUnexpired } from '../identity/admin-permission.rules.js';
import type { AdminPrincipal, PersonPrincipal } from '../identity/admin-principal.js';
import { actorOf, personActor } from '../identity/audit/audit-actor.rules.js';
import type { AdminSession, Membership } from './organization.js';
import { OrganizationsRepository } from './organizations.repository.js';

/** Describes the caller of the management API, and selects the current organization of a session. */
@Injectable()
export class AdminSessions {
  constructor(
    private readonly repository: OrganizationsRepository,
    private readonly clock: Clock,
  ) {}

  /** For a key, its one organization; for a person without an organization, the person alone. */
  async describe(identity: AdminPrincipal | PersonPrincipal): Promise<AdminSession> {
    return 'grant' in identity ? this.describeMember(identity) : this.describePerson(identity);
  }

  /**
   * The session of a person with this organization as the current one. The cookie carries the selection; nothing is
   * stored.
   *
   * @throws not_a_member the person is not a member, or there is no such organization; account_expired it has expired.
   */
  async select(person: PersonPrincipal, organizationId: string): Promise<AdminSession> {
    const memberships = await this.repository.membershipsOf(person.identityId);
    const current = requireMember(memberships, organizationId);
    requireUnexpired(current.organization.expiresAt, this.clock.nowMs());
    return this.session(personActor(organizationId, person), current, memberships);
  }

  private async describeMember(admin: AdminPrincipal): Promise<AdminSession> {
    const only = admin.credentialType === 'session' ? null : admin.organizationId;
    const memberships = await this.repository.membershipsOf(admin.identityId, only);
    return this.session(admin, requireMember(memberships, admin.organizationId), memberships);
  }

  private describePerson(person: PersonPrincipal): Promise<AdminSession> {
    return this.session({ credentialType: 'session', actor: actorOf(person) }, null, []);
  }

  private async session(
    { credentialType, actor }: Pick<AdminPrincipal, 'credentialType' | 'actor'>,
    current: Membership | null,
    memberships: readonly Membership[],
  ): Promise<AdminSession> {
    const user = await this.repository.findUser(actor.id);
    if (user === undefined) throw new GatewayError('not_a_member');
    return { user, current, memberships, credentialType, actor };
  }
}

function requireMember(memberships: readonly Membership[], organizationId: string): Membership {
  const membership = memberships.find(({ organization }) => organization.id === organizationId);
  if (membership === undefined) throw new GatewayError('not_a_member', { reason: 'not_a_member' });
  return membership;
}
