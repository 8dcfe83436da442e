import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import type { AuditEntry } from '../accounts/audit/audit-trail.js';
import { ConfigurationWrites } from '../accounts/audit/configuration-writes.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { Clock, type Instant } from '../common/clock.js';
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
  expiryOf,
  hashAppKey,
  isAppKeyId,
  KEY_ID_RANDOM_LENGTH,
  requireKeyAuthentication,
  statusAt,
} from './app-key.rules.js';
import { appKeyChanges } from './app-key-directory.js';
import { AppKeysRepository } from './app-keys.repository.js';
import type { CreateAppKeyRequest } from './dto/create-app-key.request.js';

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
   * @param expiresAt null: it does not expire.
   * @throws billing_plan_limit_reached, billing_payment_required, billing_unavailable as `Ceilings`.
   */
  async issue(
    tx: EntityManager,
    app: KeyOwner,
    { name, expiresAt = null }: { readonly name: string; readonly expiresAt?: Instant | null },
  ): Promise<IssuedAppKey> {
    await this.ceilings.requireRoom(tx, app.organizationId, 'active_keys_per_app', () =>
      this.repository.countActive(tx, app, this.clock.now()),
    );
    const key = new Secret(`${APP_KEY_BRAND}${this.ids.base62(APP_KEY_RANDOM_LENGTH)}`);
    const issued: IssuedAppKey = {
      id: `key_${this.ids.base36(KEY_ID_RANDOM_LENGTH)}`,
      name,
      key,
      keyPrefix: displayPrefix(key),
      createdAt: this.clock.now(),
      expiresAt,
    };
    await this.repository.insert(tx, app, issued, hashAppKey(key.reveal()));
    return issued;
  }

  /**
   * @returns when the key will expire.
   * @throws invalid_request the application does not use key authentication, or `expires_at` has passed.
   */
  validateNew(app: AppRow, { expires_at }: CreateAppKeyRequest): Instant | null {
    requireKeyAuthentication(app.authenticationType);
    return expiryOf(expires_at, this.clock.nowMs());
  }

  /**
   * @throws invalid_request as `validateNew`; and as `issue`.
   * @throws app_not_found it was deleted during this call.
   */
  async create(
    admin: AdminPrincipal,
    app: AppRow,
    body: CreateAppKeyRequest,
    write: Write<IssuedAppKey>,
  ): Promise<IssuedAppKey> {
    const { name } = body;
    const expiresAt = this.validateNew(app, body);
    try {
      const statements = async (tx: EntityManager) => {
        const result = await this.issue(tx, app, { name, expiresAt });
        const details = { name, ...(expiresAt === null ? {} : { expires_at: expiresAt.toISOString() }) };
        return {
          result,
          entry: { action: 'app_key.created', ...targetOf(app, result.id), details } as const,
        };
      };
      return await this.writes.run(admin, statements, write);
    } catch (error) {
      if (!violatesForeignKey(error, 'app_keys_app_fkey')) throw error;
      throw new GatewayError('app_not_found', { reason: 'app_deleted' });
    }
  }

  /** Newest first; includes keys of an application that no longer uses key authentication. */
  async list(app: AppRow): Promise<readonly AppKeyRow[]> {
    const nowMs = this.clock.nowMs();
    return (await this.repository.listOf(app)).map((key) => ({ ...key, status: statusAt(key, nowMs) }));
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
