import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, IsNull, LessThanOrEqual, MoreThan, Or } from 'typeorm';
import { type Instant, instantOf } from '../common/clock.js';
import type { AppKey, AppKeyRow, IssuedAppKey, KeyOwner } from './app-key.entity.js';
import { AppKeyEntity } from './app-key.entity.js';

/** A key with its last stored use. */
export interface StoredAppKey extends AppKey {
  readonly expiresAt: Instant | null;
  readonly lastUsedAt: Instant | null;
}

interface RevokedKey {
  readonly keyHash: string;
  readonly wasActive: boolean;
}

/** The table `app_keys`. */
@Injectable()
export class AppKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: EntityManager, app: KeyOwner, key: IssuedAppKey, keyHash: string): Promise<void> {
    const { id, name, keyPrefix, createdAt, expiresAt } = key;
    const place = { organizationId: app.organizationId, appId: app.id };
    await tx.insert(AppKeyEntity, { id, ...place, name, keyHash, keyPrefix, status: 'active', createdAt, expiresAt });
  }

  /** The number of keys that are neither revoked nor expired at `at`. */
  countActive(tx: EntityManager, app: KeyOwner, at: Instant): Promise<number> {
    const place = { organizationId: app.organizationId, appId: app.id };
    return tx.countBy(AppKeyEntity, { ...place, status: 'active', expiresAt: Or(IsNull(), MoreThan(at)) });
  }

  /** Newest first. */
  listOf(app: KeyOwner): Promise<AppKeyRow[]> {
    return this.dataSource.manager.find(AppKeyEntity, {
      select: {
        ...{ id: true, name: true, keyPrefix: true, status: true },
        ...{ createdAt: true, expiresAt: true, lastUsedAt: true },
      },
      where: { organizationId: app.organizationId, appId: app.id },
      order: { createdAt: 'DESC', id: 'DESC' },
    });
  }

  /** @returns the key's hash, and whether it was active before; `undefined` when there is no such key. */
  async revoke(tx: EntityManager, app: KeyOwner, keyId: string, at: Instant): Promise<RevokedKey | undefined> {
    const where = { organizationId: app.organizationId, appId: app.id, id: keyId };
    const key = await tx.findOne(AppKeyEntity, { where, lock: { mode: 'pessimistic_write' } });
    if (key === null) return undefined;
    await tx.update(AppKeyEntity, where, { status: 'revoked', revokedAt: key.revokedAt ?? at });
    return { keyHash: key.keyHash, wasActive: key.status === 'active' };
  }

  /** Of any account: the hash determines the account. */
  findByHash(keyHash: string): Promise<StoredAppKey | undefined> {
    return this.findWhere({ keyHash });
  }

  /** Of any account: the id comes from a verified gateway token and determines the account. */
  findById(id: string): Promise<StoredAppKey | undefined> {
    return this.findWhere({ id });
  }

  /**
   * Updates the last use of these keys, of any account, unless the stored one is recent.
   *
   * @param staleMs minimum age in milliseconds of a stored use that is replaced.
   */
  async markUsed(keyIds: readonly string[], at: Instant, staleMs: number): Promise<void> {
    const staleAt = instantOf(at.getTime() - staleMs);
    const stale = { id: In([...keyIds]), lastUsedAt: Or(IsNull(), LessThanOrEqual(staleAt)) };
    await this.dataSource.manager.update(AppKeyEntity, stale, { lastUsedAt: at });
  }

  private async findWhere(where: { keyHash: string } | { id: string }): Promise<StoredAppKey | undefined> {
    const select = {
      ...({ id: true, appId: true, organizationId: true, status: true } as const),
      ...({ expiresAt: true, lastUsedAt: true } as const),
    };
    return (await this.dataSource.manager.findOne(AppKeyEntity, { select, where })) ?? undefined;
  }
}
