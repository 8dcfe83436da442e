import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { AccountOpening, type NewServiceAccount } from '../../identity/account-opening.service.js';
import { requireUnexpired } from '../../identity/admin-permission.rules.js';
import { type ActingPerson, personActor } from '../../identity/audit/audit-actor.rules.js';
import { AuditTrail } from '../../identity/audit/audit-trail.js';
import { MembersRepository } from '../members/members.repository.js';
import { OrganizationsRepository } from '../organizations.repository.js';

/**
 * Accounts that a service identity owns until a person claims them.
 *
 * Source: docs/reference/management-api.md#unclaimed-accounts.
 */
@Injectable()
export class UnclaimedAccounts {
  constructor(
    private readonly dataSource: DataSource,
    private readonly opening: AccountOpening,
    private readonly organizations: OrganizationsRepository,
    private readonly members: MembersRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Creates one without an expiry. */
  open(tx: EntityManager, account: NewServiceAccount): Promise<{ readonly identityId: string }> {
    return this.opening.forService(tx, account);
  }

  /** Whether a person owns the account. */
  async isClaimed(organizationId: string): Promise<boolean> {
    return (await this.members.countOwners(this.dataSource, organizationId)) > 0;
  }

  /**
   * Makes a person the owner permanently. The account keeps its id and content, including its keys and their service
   * identity. Of several concurrent claims, the first succeeds.
   *
   * @param mayBelongElsewhere whether the person may be a member of another account.
   * @throws not_found no such account; conflict a person already owns it; account_expired it has expired;
   * account_exists the person is a member of another account.
   */
  async claim(
    tx: EntityManager,
    organizationId: string,
    person: ActingPerson,
    { mayBelongElsewhere = false } = {},
  ): Promise<void> {
    await this.members.lock(tx, organizationId);
    const account = await this.organizations.find(tx, organizationId);
    if (account === undefined) throw new GatewayError('not_found');
    if (account.claimed) throw alreadyClaimed();
    const now = this.clock.now();
    requireUnexpired(account.expiresAt, now.getTime());
    const { identityId } = person;
    if (!mayBelongElsewhere && (await this.organizations.belongsElsewhere(tx, identityId, organizationId))) {
      throw new GatewayError('account_exists', { reason: 'belongs_to_another_account' });
    }
    await this.members.insert(tx, { organizationId, identityId, role: 'owner', joinedAt: now });
    await this.organizations.clearExpiry(tx, organizationId);
    await this.trail.record(tx, personActor(organizationId, person), {
      action: 'organization.claimed',
      targetType: 'organization',
      targetId: organizationId,
    });
  }
}

/** Refusal of a claim on a claimed account. */
export function alreadyClaimed(): GatewayError {
  return new GatewayError('conflict', { message: 'Somebody has claimed this account.', reason: 'account_claimed' });
}
