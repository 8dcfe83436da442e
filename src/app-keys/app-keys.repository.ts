import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import type { AppKey, AppKeyRow, IssuedAppKey, KeyOwner } from './app-key.js';

/** A key with its last stored use. */
export interface StoredAppKey extends AppKey {
  readonly lastUsedAt: Instant | null;
}

interface RevokedKey {
  readonly keyHash: string;
  readonly wasActive: boolean;
}

/** All SQL on the table `app_keys`. */
@Injectable()
export class AppKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(tx: EntityManager, app: KeyOwner, key: IssuedAppKey, keyHash: string): Promise<void> {
    await tx.query(
      `INSERT INTO app_keys (id, organization_id, app_id, name, key_hash, key_prefix, status, created_at)
       VALUES ($1, $2, $3, $4, $5, $6, 'active', $7)`,
      [key.id, app.organizationId, app.id, key.name, keyHash, key.keyPrefix, key.createdAt],
    );
  }

  async countActive(tx: EntityManager, app: KeyOwner): Promise<number> {
    const [row] = await tx.query<{ keys: number }[]>(
      `SELECT count(*)::integer AS keys FROM app_keys
       WHERE organization_id = $1 AND app_id = $2 AND status = 'active'`,
      [app.organizationId, app.id],
    );
    return row?.keys ?? 0;
  }

  /** Newest first. */
  listOf(app: KeyOwner): Promise<AppKeyRow[]> {
    return this.dataSource.query(
      `SELECT id, name, key_prefix AS "keyPrefix", status, created_at AS "createdAt", last_used_at AS "lastUsedAt"
       FROM app_keys WHERE organization_id = $1 AND app_id = $2 ORDER BY created_at DESC, id DESC`,
      [app.organizationId, app.id],
    );
  }

  /** @returns the key's hash, and whether it was active before; `undefined` when there is no such key. */
  async revoke(tx: EntityManager, app: KeyOwner, keyId: string, at: Instant): Promise<RevokedKey | undefined> {
    const [rows]: [RevokedKey[], number] = await tx.query(
      `WITH before AS (
         SELECT id, status FROM app_keys WHERE organization_id = $1 AND app_id = $2 AND id = $3 FOR UPDATE)
       UPDATE app_keys key SET status = 'revoked', revoked_at = coalesce(key.revoked_at, $4)
         FROM before WHERE key.id = before.id
       RETURNING key.key_hash AS "keyHash", before.status = 'active' AS "wasActive"`,
      [app.organizationId, app.id, keyId, at],
    );
    return rows[0];
  }

  /** Of any account: the hash determines the account. */
  findByHash(keyHash: string): Promise<StoredAppKey | undefined> {
    return this.findWhere('key_hash = $1', keyHash);
  }

  /** Of any account: the id comes from a verified gateway token and determines the account. */
  findById(keyId: string): Promise<StoredAppKey | undefined> {
    return this.findWhere('id = $1', keyId);
  }

  /**
   * Updates the last use of these keys, of any account, unless the stored one is recent.
   *
   * @param staleMs minimum age in milliseconds of a stored use that is replaced.
   */
  async markUsed(keyIds: readonly string[], at: Instant, staleMs: number): Promise<void> {
    await this.dataSource.query(
      `UPDATE app_keys SET last_used_at = $2 WHERE id = ANY($1)
       AND (last_used_at IS NULL OR last_used_at <= $2::timestamptz - $3 * interval '1 millisecond')`,
      [keyIds, at, staleMs],
    );
  }

  private async findWhere(condition: 'key_hash = $1' | 'id = $1', value: string): Promise<StoredAppKey | undefined> {
    const rows: StoredAppKey[] = await this.dataSource.query(
      `SELECT id, app_id AS "appId", organization_id AS "organizationId", status, last_used_at AS "lastUsedAt"
       FROM app_keys WHERE ${condition}`,
      [value],
    );
    return rows[0];
  }
}
