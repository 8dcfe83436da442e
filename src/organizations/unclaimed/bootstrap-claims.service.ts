import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { type ActingPerson, personActor } from '../../identity/audit/audit-actor.rules.js';
import { AuditTrail } from '../../identity/audit/audit-trail.js';
import type { BootstrapAccount } from '../../identity/management-keys.repository.js';
import { ManagementKeysService } from '../../identity/management-keys.service.js';
import { MembersRepository } from '../members/members.repository.js';
import { alreadyClaimed, UnclaimedAccounts } from './unclaimed-accounts.service.js';

/** The role of the service identity after the claim: its key still manages the account, but no longer owns it. */
const SERVICE_ROLE = 'admin';

/** Transfers the bootstrap account to the first person who presents the bootstrap key (docs/adr/0041). */
@Injectable()
export class BootstrapClaims {
  constructor(
    private readonly dataSource: DataSource,
    private readonly keys: ManagementKeysService,
    private readonly accounts: UnclaimedAccounts,
    private readonly members: MembersRepository,
    private readonly trail: AuditTrail,
  ) {}

  /** @throws forbidden the key created no account, or is revoked; conflict the account is already claimed. */
  async requireClaimable(key: Secret): Promise<void> {
    const { organizationId } = await this.requireAccount(key);
    if (await this.accounts.isClaimed(organizationId)) throw alreadyClaimed();
  }

  /**
   * Makes a person the owner, even if they have another account. Of several concurrent claims, the first succeeds.
   *
   * @throws as `requireClaimable`; account_expired as `UnclaimedAccounts.claim`.
   */
  async claim(tx: EntityManager, key: Secret, person: ActingPerson): Promise<{ readonly organizationId: string }> {
    const { organizationId, serviceId } = await this.requireAccount(key, tx);
    await this.accounts.claim(tx, organizationId, person, { mayBelongElsewhere: true });
    await this.members.setRole(tx, organizationId, serviceId, SERVICE_ROLE);
    await this.trail.record(tx, personActor(organizationId, person), {
      action: 'member.role_changed',
      targetType: 'member',
      targetId: serviceId,
      details: { from: 'owner', to: SERVICE_ROLE },
    });
    return { organizationId };
  }

  /** Claims the account for a signed-in person. @throws as `claim`. */
  claimNow(key: Secret, person: ActingPerson): Promise<{ readonly organizationId: string }> {
    return this.dataSource.transaction((tx) => this.claim(tx, key, person));
  }

  private async requireAccount(key: Secret, tx?: EntityManager): Promise<BootstrapAccount> {
    const account = await this.keys.findBootstrapAccount(key, tx);
    if (account === undefined) {
      throw new GatewayError('forbidden', {
        message:
          'bootstrapKey: is not the key that has opened an account here; send the value of `BOOTSTRAP_MANAGEMENT_KEY`.',
        reason: 'bootstrap_key_unknown',
      });
    }
    return account;
  }
}
