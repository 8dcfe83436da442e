import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { AddressLimits } from '../../platform/address-limits/address-limits.service.js';
import { requireUnexpired } from '../access/admin-access.rules.js';
import { type ActingPerson, personActor } from '../access/admin-principal.js';
import { Deployment } from '../access/deployment.js';
import { NewOrganizations, type NewServiceOrganization } from '../access/new-organizations.service.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { auditedChanges } from '../audit/audited-changes.rules.js';
import type { BootstrapOrganization } from '../management-keys/management-keys.repository.js';
import { ManagementKeysService } from '../management-keys/management-keys.service.js';
import { OrganizationsRepository } from './organizations.repository.js';

/** The role of the service identity after the claim: its key still manages the organization, but no longer owns it. */
const SERVICE_ROLE = 'admin';

/**
 * Organizations that a service identity owns until a person claims them. The one of the bootstrap key is claimed by the
 * first person who presents that key (docs/adr/0022).
 *
 * Source: docs/reference/management-api.md#unclaimed-accounts.
 */
@Injectable()
export class UnclaimedOrganizations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: ManagementKeysService,
    private readonly organizations: OrganizationsRepository,
    private readonly newOrganizations: NewOrganizations,
    private readonly deployment: Deployment,
    private readonly limits: AddressLimits,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Whether the deployment is empty, so that `openFirst` opens its first organization. */
  async canOpenFirst(): Promise<boolean> {
    return !(await this.newOrganizations.hasAny());
  }

  /**
   * Opens the first organization of an empty deployment, owned by a service identity until a person claims it.
   * Concurrent callers wait until this transaction ends.
   *
   * @param service what it is opened for, and the address it is counted for once the deployment admits it.
   * @returns `undefined`: the deployment has an organization.
   * @throws rate_limited too many accounts were opened from this address today.
   */
  async openFirst(
    tx: EntityManager,
    { address, ...service }: Omit<NewServiceOrganization, 'organizationId'> & { readonly address: string },
  ): Promise<BootstrapOrganization | undefined> {
    if (!(await this.newOrganizations.isFirst(tx))) return undefined;
    await this.limits.admit('bootstrap', { subject: address });
    const organizationId = `private-${(await this.deployment.facts(tx)).id}`;
    const { identityId } = await this.newOrganizations.createForService(tx, { ...service, organizationId });
    return { organizationId, serviceId: identityId };
  }

  /** Whether a person owns the organization. */
  async isClaimed(organizationId: string, within: EntityManager = this.dataSource.manager): Promise<boolean> {
    return (await this.organizations.countOwners(within, organizationId)) > 0;
  }

  /**
   * Makes a person the owner permanently. The organization keeps its id and content, including its keys and their
   * service identity. Of several concurrent claims, the first succeeds.
   *
   * @param mayBelongElsewhere whether the person may be a member of another organization.
   * @throws not_found no such organization; conflict a person already owns it; account_expired it has expired;
   * account_exists the person is a member of another organization.
   */
  async claim(
    tx: EntityManager,
    organizationId: string,
    person: ActingPerson,
    { mayBelongElsewhere = false } = {},
  ): Promise<void> {
    await this.organizations.lock(tx, organizationId);
    const organization = await this.organizations.find(tx, organizationId);
    if (organization === undefined) throw new GatewayError('not_found');
    if (organization.claimed) throw alreadyClaimed();
    const now = this.clock.now();
    requireUnexpired(organization.expiresAt, now.getTime());
    const { identityId } = person;
    if (!mayBelongElsewhere && (await this.organizations.belongsElsewhere(tx, identityId, organizationId))) {
      throw new GatewayError('account_exists', { reason: 'belongs_to_another_account' });
    }
    await this.organizations.insertMember(tx, { organizationId, identityId, role: 'owner', joinedAt: now });
    await this.organizations.clearExpiry(tx, organizationId);
    await this.trail.record(tx, personActor(organizationId, person), {
      action: 'organization.claimed',
      targetType: 'organization',
      targetId: organizationId,
    });
  }

  /**
   * Makes a person the owner of the organization that a service identity opened, and ends that identity's ownership:
   * its keys still manage the organization.
   *
   * @param serviceId the service identity.
   * @throws as `claim`.
   */
  async claimFromService(
    tx: EntityManager,
    { organizationId, serviceId }: BootstrapOrganization,
    person: ActingPerson,
    options: { readonly mayBelongElsewhere?: boolean } = {},
  ): Promise<void> {
    await this.claim(tx, organizationId, person, options);
    await this.organizations.setRole(tx, organizationId, serviceId, SERVICE_ROLE);
    await this.trail.record(tx, personActor(organizationId, person), {
      action: 'member.role_changed',
      targetType: 'member',
      targetId: serviceId,
      details: { from: 'owner', to: SERVICE_ROLE },
      changes: auditedChanges({ role: 'owner' }, { role: SERVICE_ROLE }, ['role']),
    });
  }

  /** @throws forbidden the key created no organization, or is revoked; conflict the organization is already claimed. */
  async requireClaimable(bootstrapKey: Secret): Promise<void> {
    const { organizationId } = await this.requireOrganization(bootstrapKey);
    if (await this.isClaimed(organizationId)) throw alreadyClaimed();
  }

  /**
   * Makes a person the owner, even if they have another organization.
   *
   * @throws as `requireClaimable` and `claim`.
   */
  async claimWithKey(
    tx: EntityManager,
    bootstrapKey: Secret,
    person: ActingPerson,
  ): Promise<{ readonly organizationId: string }> {
    const organization = await this.requireOrganization(bootstrapKey, tx);
    await this.claimFromService(tx, organization, person, { mayBelongElsewhere: true });
    return { organizationId: organization.organizationId };
  }

  /** As `claimWithKey`, for a signed-in person. */
  claimNow(bootstrapKey: Secret, person: ActingPerson): Promise<{ readonly organizationId: string }> {
    return this.dataSource.transaction((tx) => this.claimWithKey(tx, bootstrapKey, person));
  }

  private async requireOrganization(bootstrapKey: Secret, tx?: EntityManager): Promise<BootstrapOrganization> {
    const organization = await this.keys.findBootstrapOrganization(bootstrapKey, tx);
    if (organization === undefined) {
      throw new GatewayError('forbidden', {
        message:
          'bootstrapKey: is not the key that opened an account here; send the value of `BOOTSTRAP_MANAGEMENT_KEY`.',
        reason: 'bootstrap_key_unknown',
      });
    }
    return organization;
  }
}

/** Refusal of a claim on a claimed organization. */
function alreadyClaimed(): GatewayError {
  return new GatewayError('conflict', { message: 'This account is already claimed.', reason: 'account_claimed' });
}
