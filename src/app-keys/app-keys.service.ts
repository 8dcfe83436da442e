import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import type { AuditEntry } from '../accounts/audit/audit-trail.js';
import { ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Ids } from '../common/ids.js';
import { Secret } from '../common/log/secret.js';
import type { Write } from '../idempotency/creation.js';
import { Ceilings } from '../limits/plans/ceilings.service.js';
import { violatesForeignKey } from '../platform/database/database-errors.js';
import type { AppKeyRow, IssuedAppKey, KeyOwner } from './app-key.entity.js';
import {
  APP_KEY_BRAND,
  APP_KEY_RANDOM_LENGTH,
  displayPrefix,
  hashAppKey,
  isAppKeyId,
  KEY_ID_RANDOM_LENGTH,
  requireKeyAuthentication,
} from './app-key.rules.js';
import { appKeyChanges } from './app-key-directory.js';
import { AppKeysRepository } from './app-keys.repository.js';

/** Issues, lists and revokes application keys. */
@Injectable()
export class AppKeysService {
  constructor(
    private readonly repository: AppKeysRepository,
    private readonly ceilings: Ceilings,
    private readonly writes: ConfigurationWrites,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Issues a key within a transaction. Only this result holds the plaintext.
   *
   * @throws billing_plan_limit_reached, billing_payment_required, billing_unavailable as `Ceilings`.
   */
  async issue(tx: EntityManager, app: KeyOwner, name: string): Promise<IssuedAppKey> {
    await this.ceilings.requireRoom(tx, app.organizationId, 'active_keys_per_app', () =>
      this.repository.countActive(tx, app),
    );
    const key = new Secret(`${APP_KEY_BRAND}${this.ids.base62(APP_KEY_RANDOM_LENGTH)}`);
    const issued: IssuedAppKey = {
      id: `key_${this.ids.base36(KEY_ID_RANDOM_LENGTH)}`,
      name,
      key,
      keyPrefix: displayPrefix(key),
      createdAt: this.clock.now(),
    };
    await this.repository.insert(tx, app, issued, hashAppKey(key.reveal()));
    return issued;
  }

  /**
   * @throws invalid_request the application does not use key authentication; and as `issue`.
   * @throws app_not_found it was deleted during this call.
   */
  async create(admin: AdminPrincipal, app: AppRow, name: string, write: Write<IssuedAppKey>): Promise<IssuedAppKey> {
    requireKeyAuthentication(app.authenticationType);
    try {
      const statements = async (tx: EntityManager) => {
        const result = await this.issue(tx, app, name);
        return {
          result,
          entry: { action: 'app_key.created', ...targetOf(app, result.id), details: { name } } as const,
        };
      };
      return await this.writes.run(admin, statements, write);
    } catch (error) {
      if (!violatesForeignKey(error, 'app_keys_app_fkey')) throw error;
      throw new GatewayError('app_not_found', { reason: 'app_deleted' });
    }
  }

  /** Newest first; includes keys of an application that no longer uses key authentication. */
  list(app: AppRow): Promise<readonly AppKeyRow[]> {
    return this.repository.listOf(app);
  }

  /**
   * Revokes a key. Instances stop accepting it at once, or within a minute when the notification does not reach them.
   * Repeating it changes nothing. It also works on an application that no longer uses key authentication, because its
   * old keys would become valid again with key authentication.
   *
   * @throws not_found the application has no such key.
   */
  async revoke(admin: AdminPrincipal, app: AppRow, keyId: string): Promise<void> {
    if (!isAppKeyId(keyId)) throw new GatewayError('not_found');
    await this.writes.run(admin, async (tx) => {
      const key = await this.repository.revoke(tx, app, keyId, this.clock.now());
      if (key === undefined) throw new GatewayError('not_found');
      const entry = { action: 'app_key.revoked', ...targetOf(app, keyId) } as const;
      const changes = appKeyChanges({ id: keyId, hash: key.keyHash });
      return { result: undefined, changes, ...(key.wasActive ? { entry } : {}) };
    });
  }
}

function targetOf(app: KeyOwner, keyId: string): Pick<AuditEntry, 'targetType' | 'targetId' | 'appId'> {
  return { targetType: 'app_key', targetId: keyId, appId: app.id };
}
