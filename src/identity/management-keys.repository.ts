import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Instant } from '../common/clock.js';
import type { Grant, Role } from './admin-principal.js';

/** A valid key with the current role and kind of its owner. */
interface KeyHolderRow {
  readonly id: string;
  readonly organization_id: string;
  readonly identity_id: string;
  readonly access_grant: Grant;
  readonly role: Role;
  readonly kind: 'human' | 'service';
}

/** How keys and connections are issued. Source: docs/reference/management-api.md#management-keys. */
export const MANAGEMENT_KEY_SOURCES = ['console', 'cli', 'bootstrap', 'oauth'] as const;

export type ManagementKeySource = (typeof MANAGEMENT_KEY_SOURCES)[number];

/** Owner and permissions of a key. */
export interface ManagementKeyTerms {
  readonly organizationId: string;
  readonly identityId: string;
  readonly name: string;
  readonly grant: Grant;
  readonly source: ManagementKeySource;
}

/** The account that a bootstrap key created, and the service identity that owns it. */
export interface BootstrapAccount {
  readonly organizationId: string;
  readonly serviceId: string;
}

/** A key to store, without its plaintext. */
interface NewManagementKey extends ManagementKeyTerms {
  readonly id: string;
  /** SHA-256 of the key, hexadecimal. */
  readonly tokenHash: string;
  /** The last four characters, to tell keys apart. */
  readonly tokenHint: string;
  readonly createdAt: Instant;
}

/** The table management_keys. */
@Injectable()
export class ManagementKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * The holder of a key that is valid at `at` (ISO-8601). The hash determines the account, so this is the only query
   * that has no account parameter.
   */
  async findHolder(tokenHash: string, at: string): Promise<KeyHolderRow | undefined> {
    const [row] = await this.dataSource.query<KeyHolderRow[]>(
      `SELECT k.id, k.organization_id, k.identity_id, k.access_grant, m.role, i.kind
         FROM management_keys k
         JOIN organizations o ON o.id = k.organization_id
         JOIN memberships m ON m.organization_id = k.organization_id AND m.identity_id = k.identity_id
         JOIN identities i ON i.id = k.identity_id
        WHERE k.token_hash = $1 AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > $2)
          AND (o.expires_at IS NULL OR o.expires_at > $2)`,
      [tokenHash, at],
    );
    return row;
  }

  /** Whether this key is stored, and whether it is revoked. */
  async findRevocation(tx: EntityManager, tokenHash: string): Promise<{ readonly revoked: boolean } | undefined> {
    const [row] = await tx.query<{ revoked: boolean }[]>(
      'SELECT revoked_at IS NOT NULL AS revoked FROM management_keys WHERE token_hash = $1',
      [tokenHash],
    );
    return row;
  }

  /** The account that a bootstrap key created, and its owner; `undefined` for any other or revoked key. */
  async findBootstrapAccount(
    tokenHash: string,
    within: Pick<EntityManager, 'query'> = this.dataSource,
  ): Promise<BootstrapAccount | undefined> {
    const [row] = await within.query<BootstrapAccount[]>(
      `SELECT organization_id AS "organizationId", identity_id AS "serviceId" FROM management_keys
        WHERE token_hash = $1 AND source = 'bootstrap' AND revoked_at IS NULL`,
      [tokenHash],
    );
    return row;
  }

  /** Revokes every key of an identity in an account. */
  async revokeAllOf(
    tx: EntityManager,
    { organizationId, identityId }: Pick<NewManagementKey, 'organizationId' | 'identityId'>,
    at: Instant,
  ): Promise<void> {
    await tx.query(
      `UPDATE management_keys SET revoked_at = $3
        WHERE organization_id = $1 AND identity_id = $2 AND revoked_at IS NULL`,
      [organizationId, identityId, at],
    );
  }

  /**
   * Stores a key of a member. The membership is locked until the transaction ends.
   *
   * @returns whether the owner is a member.
   */
  async insert(tx: EntityManager, key: NewManagementKey): Promise<boolean> {
    const rows = await tx.query<unknown[]>(
      `INSERT INTO management_keys
         (id, organization_id, identity_id, name, token_hash, token_hint, access_grant, source, created_at)
       SELECT $1, m.organization_id, m.identity_id, $4, $5, $6, $7, $8, $9::timestamptz
         FROM memberships m WHERE m.organization_id = $2 AND m.identity_id = $3 FOR KEY SHARE
       RETURNING id`,
      [
        key.id,
        key.organizationId,
        key.identityId,
        key.name,
        key.tokenHash,
        key.tokenHint,
        key.grant,
        key.source,
        key.createdAt,
      ],
    );
    return rows.length > 0;
  }
}
