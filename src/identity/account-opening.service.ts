import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../common/clock.js';
import { AccountsRepository } from './accounts.repository.js';
import type { ActionSource } from './admin-principal.js';
import { type ActingPerson, type AuditActor, newServiceActor, personActor } from './audit/audit-actor.rules.js';
import { AuditTrail } from './audit/audit-trail.js';

/**
 * Name of an unclaimed account.
 *
 * Source: docs/reference/management-api.md#organizations-and-members,
 * docs/reference/management-api.md#unclaimed-accounts.
 */
const UNCLAIMED_NAME = 'My account';

/** An account that a service identity owns until a person claims it. */
export interface NewServiceAccount {
  readonly organizationId: string;
  /** Name of the service identity, such as "CLI service". */
  readonly serviceName: string;
  readonly actionSource: ActionSource;
}

/** Creates accounts without an expiry, each with its first owner and the first audit entry. */
@Injectable()
export class AccountOpening {
  constructor(
    private readonly accounts: AccountsRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Whether the deployment has any account. */
  hasAny(): Promise<boolean> {
    return this.accounts.hasAny();
  }

  /**
   * Whether this transaction creates the first account of the deployment. If so, it holds a lock that makes other
   * account creations wait until it ends.
   */
  async isFirst(tx: EntityManager): Promise<boolean> {
    if (await this.accounts.hasAny(tx)) return false;
    await this.accounts.lockAccounts(tx);
    return !(await this.accounts.hasAny(tx));
  }

  /** @param owner a person that is already stored. */
  async forPerson(
    tx: EntityManager,
    organization: { readonly id: string; readonly name: string },
    owner: ActingPerson,
  ): Promise<void> {
    await this.open(tx, organization.name, personActor(organization.id, owner));
  }

  /**
   * Creates an unclaimed account and the service identity that owns it.
   *
   * @returns the id of that identity, derived from the account id.
   * Source: docs/reference/management-api.md#unclaimed-accounts.
   */
  async forService(tx: EntityManager, account: NewServiceAccount): Promise<{ readonly identityId: string }> {
    const { organizationId, serviceName, actionSource } = account;
    const identityId = `service-${organizationId}`;
    await this.accounts.insertServiceIdentity(tx, {
      id: identityId,
      name: serviceName,
      createdAt: this.clock.now(),
    });
    await this.open(tx, UNCLAIMED_NAME, newServiceActor(organizationId, identityId, actionSource));
    return { identityId };
  }

  private async open(tx: EntityManager, name: string, owner: AuditActor): Promise<void> {
    const { organizationId, actor } = owner;
    const createdAt = this.clock.now();
    await this.accounts.insertOrganization(tx, { organizationId, name, ownerId: actor.id, createdAt });
    await this.trail.record(tx, owner, {
      action: 'organization.created',
      targetType: 'organization',
      targetId: organizationId,
    });
  }
}
