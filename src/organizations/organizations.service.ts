import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Ids } from '../common/ids.js';
import { AccountOpening } from '../identity/account-opening.service.js';
import type { AdminPrincipal, PersonPrincipal } from '../identity/admin-principal.js';
import { AuditTrail } from '../identity/audit/audit-trail.js';
import type { Membership, Organization } from './organization.js';
import { requireRoomForOrganization } from './organization.rules.js';
import { OrganizationsRepository } from './organizations.repository.js';

/** Lists, creates and renames organizations. */
@Injectable()
export class Organizations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: OrganizationsRepository,
    private readonly opening: AccountOpening,
    private readonly trail: AuditTrail,
    private readonly ids: Ids,
  ) {}

  /** All organizations of a person, including expired ones; oldest first. */
  list({ identityId }: PersonPrincipal): Promise<readonly Membership[]> {
    return this.repository.membershipsOf(identityId);
  }

  /** Creates an organization that the person owns. @throws conflict the limit of owned organizations is reached. */
  create(person: PersonPrincipal, name: string): Promise<Organization> {
    const id = `org_${this.ids.base36(20)}`;
    return this.dataSource.transaction(async (tx) => {
      requireRoomForOrganization(await this.repository.countOwnedBy(tx, person.identityId));
      await this.opening.forPerson(tx, { id, name }, person);
      return this.read(tx, id);
    });
  }

  /** @throws not_found for any organization other than the current one, whether or not it exists. */
  rename(admin: AdminPrincipal, id: string, name: string): Promise<Organization> {
    if (id !== admin.organizationId) throw new GatewayError('not_found');
    return this.dataSource.transaction(async (tx) => {
      await this.repository.rename(tx, id, name);
      await this.trail.record(tx, admin, {
        action: 'organization.renamed',
        targetType: 'organization',
        targetId: id,
        details: { name },
      });
      return this.read(tx, id);
    });
  }

  private async read(tx: EntityManager, id: string): Promise<Organization> {
    const organization = await this.repository.find(tx, id);
    if (organization === undefined) throw new GatewayError('not_found');
    return organization;
  }
}
