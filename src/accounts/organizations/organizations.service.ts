import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { requireUnexpired } from '../access/admin-access.rules.js';
import {
  type ActingPerson,
  type AdminPrincipal,
  actorOf,
  type PersonPrincipal,
  personActor,
} from '../access/admin-principal.js';
import { NewOrganizations } from '../access/new-organizations.service.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { auditedChanges } from '../audit/audited-changes.rules.js';
import { ownOrganizationId, requireOrganizationLimit } from './organization.rules.js';
import {
  type Membership,
  type Organization,
  OrganizationsRepository,
  type SignedInUser,
} from './organizations.repository.js';

/**
 * Default name of the organization that is created at sign-up.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
const OWN_NAME = 'My Organization';

/**
 * The caller, its current organization and its other memberships.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
export interface AdminSession extends Pick<AdminPrincipal, 'credentialType' | 'actor'> {
  readonly user: SignedInUser;
  /** Null for a person without an organization. */
  readonly current: Membership | null;
  /** All memberships of a person, or the one organization of a key; oldest organization first. */
  readonly memberships: readonly Membership[];
}

/** Lists, creates, renames and selects organizations. */
@Injectable()
export class Organizations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: OrganizationsRepository,
    private readonly newOrganizations: NewOrganizations,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** All organizations of a person, including expired ones; oldest first. */
  list({ identityId }: PersonPrincipal, within?: EntityManager): Promise<readonly Membership[]> {
    return this.repository.membershipsOf(identityId, null, within);
  }

  /** Creates an organization that the person owns. @throws conflict the limit of owned organizations is reached. */
  create(person: PersonPrincipal, name: string): Promise<Organization> {
    const id = `org_${this.ids.base36(20)}`;
    return this.dataSource.transaction(async (tx) => {
      requireOrganizationLimit(await this.repository.countOwnedBy(tx, person.identityId));
      await this.newOrganizations.createForPerson(tx, { id, name }, person);
      return this.read(id, tx);
    });
  }

  /**
   * Creates the first organization of a newly stored person with their first session.
   *
   * @returns the id of the organization, derived from the person's id.
   */
  async createOwn(tx: EntityManager, person: ActingPerson): Promise<{ readonly organizationId: string }> {
    const organizationId = ownOrganizationId(person.identityId);
    await this.newOrganizations.createForPerson(tx, { id: organizationId, name: OWN_NAME }, person);
    return { organizationId };
  }

  /** @throws not_found for any organization other than the current one, whether or not it exists. */
  rename(admin: AdminPrincipal, id: string, name: string): Promise<Organization> {
    if (id !== admin.organizationId) throw new GatewayError('not_found');
    return this.dataSource.transaction(async (tx) => {
      const before = await this.read(id, tx);
      await this.repository.rename(tx, id, name);
      await this.trail.record(tx, admin, {
        action: 'organization.renamed',
        targetType: 'organization',
        targetId: id,
        details: { name },
        changes: auditedChanges({ name: before.name }, { name }, ['name']),
      });
      return this.read(id, tx);
    });
  }

  /** The caller. For a key, its one organization; for a person without an organization, the person alone. */
  async describe(identity: AdminPrincipal | PersonPrincipal): Promise<AdminSession> {
    if (!('grant' in identity)) {
      return this.sessionOf({ credentialType: 'session', actor: actorOf(identity) }, null, []);
    }
    const only = identity.credentialType === 'session' ? null : identity.organizationId;
    const memberships = await this.repository.membershipsOf(identity.identityId, only);
    return this.sessionOf(identity, requireMember(memberships, identity.organizationId), memberships);
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
    return this.sessionOf(personActor(organizationId, person), current, memberships);
  }

  private async sessionOf(
    { credentialType, actor }: Pick<AdminPrincipal, 'credentialType' | 'actor'>,
    current: Membership | null,
    memberships: readonly Membership[],
  ): Promise<AdminSession> {
    const user = await this.repository.findUser(actor.id);
    if (user === undefined) throw new GatewayError('not_a_member');
    return { user, current, memberships, credentialType, actor };
  }

  /** @throws not_found */
  async read(id: string, within: EntityManager = this.dataSource.manager): Promise<Organization> {
    const organization = await this.repository.find(within, id);
    if (organization === undefined) throw new GatewayError('not_found');
    return organization;
  }
}

function requireMember(memberships: readonly Membership[], organizationId: string): Membership {
  const membership = memberships.find(({ organization }) => organization.id === organizationId);
  if (membership === undefined) throw new GatewayError('not_a_member', { reason: 'not_a_member' });
  return membership;
}
