import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { ManagementKey } from './management-key.js';

/**
 * The keys of former members stay in the list as not enabled, as a record of past access. `findHolder` decides
 * separately whether a key authenticates.
 */
const SELECT_KEYS = `
  SELECT k.id, k.organization_id AS "organizationId", k.identity_id AS "userId", k.name, k.token_hint AS "tokenHint",
         k.access_grant AS "grant", k.source, k.label, k.created_at AS "createdAt", k.expires_at AS "expiresAt",
         k.revoked_at AS "revokedAt",
         k.revoked_at IS NULL AND m.identity_id IS NOT NULL AND coalesce(k.expires_at > $2, true) AS enabled
    FROM management_keys k
    LEFT JOIN memberships m ON m.organization_id = k.organization_id AND m.identity_id = k.identity_id
   WHERE k.organization_id = $1`;

/** The rows of one account in `management_keys`. */
@Injectable()
export class AccountKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first, including revoked keys that are still retained. Keys that expire by `at` are not enabled. */
  listOf(organizationId: string, at: Instant): Promise<ManagementKey[]> {
    return this.dataSource.query(`${SELECT_KEYS} ORDER BY k.created_at DESC, k.id DESC`, [organizationId, at]);
  }

  async find(tx: EntityManager, organizationId: string, id: string, at: Instant): Promise<ManagementKey | undefined> {
    const [key] = await tx.query<ManagementKey[]>(`${SELECT_KEYS} AND k.id = $3`, [organizationId, at, id]);
    return key;
  }

  /**
   * The number of keys of the account that are neither revoked nor expired at `at`. Concurrent callers wait until the
   * transaction ends.
   */
  async countInForce(tx: EntityManager, organizationId: string, at: Instant): Promise<number> {
    await tx.query('SELECT FROM organizations WHERE id = $1 FOR NO KEY UPDATE', [organizationId]);
    const [row] = await tx.query<{ keys: number }[]>(
      `SELECT count(*)::integer AS keys FROM management_keys
        WHERE organization_id = $1 AND revoked_at IS NULL AND coalesce(expires_at > $2, true)`,
      [organizationId, at],
    );
    return row?.keys ?? 0;
  }

  /** @returns whether the key was not revoked before. */
  async revoke(tx: EntityManager, organizationId: string, id: string, at: Instant): Promise<boolean> {
    const [, count]: [unknown[], number] = await tx.query(
      'UPDATE management_keys SET revoked_at = $3 WHERE organization_id = $1 AND id = $2 AND revoked_at IS NULL',
      [organizationId, id, at],
    );
    return count > 0;
  }
}
