import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { AuditTrail } from '../audit/audit-trail.js';
import {
  type ActingPerson,
  type ActionSource,
  type AuditActor,
  newServiceActor,
  personActor,
} from './admin-principal.js';
import { NewOrganizationsRepository } from './new-organizations.repository.js';

/**
 * Name of an unclaimed organization.
 *
 * Source: docs/reference/management-api.md#organizations-and-members,
 * docs/reference/management-api.md#unclaimed-accounts.
 */
const UNCLAIMED_NAME = 'My account';

/** An organization that a service identity owns until a person claims it. */
export interface NewServiceOrganization {
  readonly organizationId: string;
  /** Name of the service identity, such as "CLI service". */
  readonly serviceName: string;
  readonly actionSource: ActionSource;
}

/** Creates organizations without an expiry, each with its first owner and the first audit entry. */
@Injectable()
export class NewOrganizations {
  constructor(
    private readonly organizations: NewOrganizationsRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Whether the deployment has any organization. */
  hasAny(): Promise<boolean> {
    return this.organizations.hasAny();
  }

  /**
   * Whether this transaction creates the first organization of the deployment. If so, it holds a lock that makes
   * other creations wait until it ends.
   */
  async isFirst(tx: EntityManager): Promise<boolean> {
    if (await this.organizations.hasAny(tx)) return false;
    await this.organizations.lockOrganizations(tx);
    return !(await this.organizations.hasAny(tx));
  }

  /** @param owner a person that is already stored. */
  async createForPerson(
    tx: EntityManager,
    organization: { readonly id: string; readonly name: string },
    owner: ActingPerson,
  ): Promise<void> {
    await this.create(tx, organization.name, personActor(organization.id, owner));
  }

  /**
   * Creates an unclaimed organization and the service identity that owns it.
   *
   * @returns the id of that identity, derived from the organization id.
   * Source: docs/reference/management-api.md#unclaimed-accounts.
   */
  async createForService(
    tx: EntityManager,
    organization: NewServiceOrganization,
  ): Promise<{ readonly identityId: string }> {
    const { organizationId, serviceName, actionSource } = organization;
    const identityId = `service-${organizationId}`;
    await this.organizations.insertServiceIdentity(tx, {
      id: identityId,
      name: serviceName,
      createdAt: this.clock.now(),
    });
    await this.create(tx, UNCLAIMED_NAME, newServiceActor(organizationId, identityId, actionSource));
    return { identityId };
  }

  private async create(tx: EntityManager, name: string, owner: AuditActor): Promise<void> {
    const { organizationId, actor } = owner;
    const createdAt = this.clock.now();
    await this.organizations.insertOrganization(tx, { organizationId, name, ownerId: actor.id, createdAt });
    await this.trail.record(tx, owner, {
      action: 'organization.created',
      targetType: 'organization',
      targetId: organizationId,
    });
  }
}
