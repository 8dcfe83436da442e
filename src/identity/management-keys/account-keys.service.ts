import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import type { AdminPrincipal, Grant } from '../admin-principal.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { ManagementKeysService } from '../management-keys.service.js';
import { AccountKeysRepository } from './account-keys.repository.js';
import type { CreatedManagementKey, ManagementKey } from './management-key.js';

const BRAND = 'gw_mgmt_';
/** 285 bits. Source: docs/reference/management-api.md#management-keys. */
const RANDOM_LENGTH = 48;
/** Maximum number of keys of one account that are in force. */
const MAX_KEYS = 1_000;

/** Creates, lists and revokes the management keys of an account. `ManagementKeysService` authenticates them. */
@Injectable()
export class AccountKeys {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: AccountKeysRepository,
    private readonly keys: ManagementKeysService,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Newest first. */
  list({ organizationId }: AdminPrincipal): Promise<readonly ManagementKey[]> {
    return this.repository.listOf(organizationId, this.clock.now());
  }

  /**
   * Creates a key that carries the current role of its creator at each use. Only this response holds the plaintext.
   *
   * @throws conflict the account has too many keys; forbidden the creator is no longer a member.
   */
  create(admin: AdminPrincipal, name: string, grant: Grant): Promise<CreatedManagementKey> {
    const { organizationId, identityId } = admin;
    const plaintext = new Secret(`${BRAND}${this.ids.base62(RANDOM_LENGTH)}`);
    return this.dataSource.transaction(async (tx) => {
      await this.requireRoom(tx, organizationId);
      const terms = { organizationId, identityId, name, grant, source: 'console' } as const;
      const id = await this.keys.store(tx, plaintext, terms, admin);
      return { key: await this.read(tx, organizationId, id), plaintext };
    });
  }

  /**
   * Revokes a key, effective from the next request at every instance. Repeating it changes nothing and returns the
   * same.
   *
   * @throws not_found the account has no such key.
   */
  revoke(admin: AdminPrincipal, id: string): Promise<ManagementKey> {
    const { organizationId } = admin;
    return this.dataSource.transaction(async (tx) => {
      if (await this.repository.revoke(tx, organizationId, id, this.clock.now())) {
        await this.trail.record(tx, admin, {
          action: 'management_key.revoked',
          targetType: 'management_key',
          targetId: id,
        });
      }
      return this.read(tx, organizationId, id);
    });
  }

  /** @throws conflict as `create`. Source: OWASP API4:2023. */
  private async requireRoom(tx: EntityManager, organizationId: string): Promise<void> {
    if ((await this.repository.countInForce(tx, organizationId, this.clock.now())) < MAX_KEYS) return;
    throw new GatewayError('conflict', {
      message: `The account has ${MAX_KEYS} management keys, and may have no more; revoke one first.`,
      reason: 'too_many_management_keys',
    });
  }

  private async read(tx: EntityManager, organizationId: string, id: string): Promise<ManagementKey> {
    const key = await this.repository.find(tx, organizationId, id, this.clock.now());
    if (key === undefined) throw new GatewayError('not_found');
    return key;
  }
}
