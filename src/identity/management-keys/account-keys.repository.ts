import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import type { ManagementKey } from './management-key.js';

/**
 * Keys of people who left stay in the list, and are not enabled: whoever looks after an account sees what once opened
 * it, and that it does not any more. What makes a key work is told where keys are proven.
 */
const SELECT_KEYS = `
  SELECT k.id, k.organization_id AS "organizationId", k.identity_id AS "userId", k.name, k.token_hint AS "tokenHint",
         k.access_grant AS "grant", k.source, k.label, k.created_at AS "createdAt", k.expires_at AS "expiresAt",
         k.revoked_at AS "revokedAt",
         k.revoked_at IS NULL AND m.identity_id IS NOT NULL AND coalesce(k.expires_at > $2, true) AS enabled
    FROM management_keys k
    LEFT JOIN memberships m ON m.organization_id = k.organization_id AND m.identity_id = k.identity_id
   WHERE k.organization_id = $1`;

/** What an account may read and change of its rows in `management_keys`. */
@Injectable()
export class AccountKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Newest first, revoked ones included as long as they are kept; `at` decides which have expired. */
  listOf(organizationId: string, at: Instant): Promise<ManagementKey[]> {
    return this.dataSource.query(`${SELECT_KEYS} ORDER BY k.created_at DESC, k.id DESC`, [organizationId, at]);
  }

  async find(tx: EntityManager, organizationId: string, id: string, at: Instant): Promise<ManagementKey | undefined> {
    const [key] = await tx.query<ManagementKey[]>(`${SELECT_KEYS} AND k.id = $3`, [organizationId, at, id]);
    return key;
  }

  /**
   * How many keys of the account are neither revoked nor past their end at `at`. Whoever asks the same of it waits until
   * the transaction ends.
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

  /** @returns whether it was in force until now. */
  async revoke(tx: EntityManager, organizationId: string, id: string, at: Instant): Promise<boolean> {
    const [, count]: [unknown[], number] = await tx.query(
      'UPDATE management_keys SET revoked_at = $3 WHERE organization_id = $1 AND id = $2 AND revoked_at IS NULL',
      [organizationId, id, at],
    );
    return count > 0;
  }
}
