import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, In, IsNull, LessThanOrEqual, MoreThan, Or } from 'typeorm';
import { type Instant, instantOf } from '../../common/clock.js';
import type { Grant, Role } from '../access/admin-principal.js';
import { MembershipEntity, OrganizationEntity } from '../access/organization.entity.js';
import { ManagementKeyEntity } from './management-key.entity.js';

/** How keys and connections are issued. Source: docs/reference/management-api.md#management-keys. */
export const MANAGEMENT_KEY_SOURCES = ['console', 'cli', 'bootstrap', 'oauth'] as const;

export type ManagementKeySource = (typeof MANAGEMENT_KEY_SOURCES)[number];

/**
 * A management key as its organization sees it, without the plaintext.
 *
 * Source: docs/reference/management-api.md#management-keys.
 */
export interface ManagementKey {
  readonly id: string;
  readonly organizationId: string;
  /** The owner; the key carries the owner's role. */
  readonly userId: string;
  readonly name: string;
  /** The last four characters. */
  readonly tokenHint: string;
  readonly grant: Grant;
  readonly source: ManagementKeySource;
  readonly label: string | null;
  /** Whether the key is neither revoked nor expired and its owner is a member. */
  readonly enabled: boolean;
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
  readonly revokedAt: Instant | null;
  /** The client of a connection; null for a key. */
  readonly clientId: string | null;
  /** When a key was last used, at most ten minutes behind; when a connection last got tokens. */
  readonly lastUsedAt: Instant | null;
}

/** Owner and permissions of a key. */
export interface ManagementKeyTerms {
  readonly organizationId: string;
  readonly identityId: string;
  readonly name: string;
  readonly grant: Grant;
  readonly source: ManagementKeySource;
  /** Where the key is used, as its client said. */
  readonly label?: string;
}

/** A key or connection to store, without its plaintext. */
interface NewManagementKey extends ManagementKeyTerms {
  readonly id: string;
  /** SHA-256 of the key, hexadecimal; null for a connection. */
  readonly tokenHash: string | null;
  /** The last four characters, to tell keys apart. */
  readonly tokenHint: string;
  readonly createdAt: Instant;
  readonly clientId?: string;
  readonly expiresAt?: Instant;
}

/** A valid key with the current role and kind of its owner. */
export interface KeyOwner {
  readonly id: string;
  readonly organizationId: string;
  readonly identityId: string;
  readonly grant: Grant;
  readonly role: Role;
  readonly kind: 'human' | 'service';
  readonly source: ManagementKeySource;
  readonly lastUsedAt: Instant | null;
}

/** The organization that a bootstrap key created, and the service identity that owns it. */
export interface BootstrapOrganization {
  readonly organizationId: string;
  readonly serviceId: string;
}

/** Owners of keys and connections that are in force at `$2`, with the owner's current role. */
export const SELECT_OWNER = `
  SELECT k.id, k.organization_id AS "organizationId", k.identity_id AS "identityId", k.access_grant AS "grant",
         m.role, i.kind, k.source, k.last_used_at AS "lastUsedAt"
    FROM management_keys k
    JOIN organizations o ON o.id = k.organization_id
    JOIN memberships m ON m.organization_id = k.organization_id AND m.identity_id = k.identity_id
    JOIN identities i ON i.id = k.identity_id
   WHERE k.revoked_at IS NULL
     AND (k.expires_at IS NULL OR k.expires_at > $2)
     AND (o.expires_at IS NULL OR o.expires_at > $2)`;

/** The table management_keys. */
@Injectable()
export class ManagementKeysRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** The owner of a key that is valid at `at`. The hash determines the organization. */
  async findOwner(tokenHash: string, at: Instant): Promise<KeyOwner | undefined> {
    const [row] = await this.dataSource.query<KeyOwner[]>(`${SELECT_OWNER} AND k.token_hash = $1`, [tokenHash, at]);
    return row;
  }

  /**
   * As `findOwner`, of the key with this id. Revocations and role changes wait until the transaction ends.
   */
  async lockOwner(tx: EntityManager, id: string, at: Instant): Promise<KeyOwner | undefined> {
    const [row] = await tx.query<KeyOwner[]>(`${SELECT_OWNER} AND k.id = $1 FOR SHARE OF k, m`, [id, at]);
    return row;
  }

  /** Whether this key is stored, and whether it is revoked. */
  async findRevocation(tx: EntityManager, tokenHash: string): Promise<{ readonly revoked: boolean } | undefined> {
    const key = await tx.findOneBy(ManagementKeyEntity, { tokenHash });
    return key === null ? undefined : { revoked: key.revokedAt !== null };
  }

  /** The organization that a bootstrap key created, and its owner; `undefined` for any other or revoked key. */
  async findBootstrapOrganization(
    tokenHash: string,
    within: EntityManager = this.dataSource.manager,
  ): Promise<BootstrapOrganization | undefined> {
    const key = await within.findOneBy(ManagementKeyEntity, { tokenHash, source: 'bootstrap', revokedAt: IsNull() });
    return key === null ? undefined : { organizationId: key.organizationId, serviceId: key.identityId };
  }

  /** Newest first, including revoked keys that are still retained. Keys that expire by `at` are not enabled. */
  listOf(organizationId: string, at: Instant): Promise<ManagementKey[]> {
    return this.select(this.dataSource.manager, organizationId, at);
  }

  async find(tx: EntityManager, organizationId: string, id: string, at: Instant): Promise<ManagementKey | undefined> {
    const [key] = await this.select(tx, organizationId, at, id);
    return key;
  }

  /**
   * The number of keys of the organization that are neither revoked nor expired at `at`. Concurrent callers wait until
   * the transaction ends.
   */
  async countValid(tx: EntityManager, organizationId: string, at: Instant): Promise<number> {
    const lock = { mode: 'for_no_key_update' } as const;
    await tx.findOne(OrganizationEntity, { where: { id: organizationId }, lock });
    const expiresAt = Or(IsNull(), MoreThan(at));
    return tx.countBy(ManagementKeyEntity, { organizationId, revokedAt: IsNull(), expiresAt });
  }

  /**
   * Stores a key of a member. The membership is locked until the transaction ends.
   *
   * @returns whether the owner is a member.
   */
  async insert(tx: EntityManager, { grant, ...key }: NewManagementKey): Promise<boolean> {
    const { organizationId, identityId } = key;
    const lock = { mode: 'for_key_share' } as const;
    const member = await tx.findOne(MembershipEntity, { where: { organizationId, identityId }, lock });
    if (member !== null) await tx.insert(ManagementKeyEntity, { ...key, accessGrant: grant });
    return member !== null;
  }

  /** As `LastUses.write`. */
  async markUsed(ids: readonly string[], at: Instant, staleMs: number): Promise<void> {
    const staleAt = instantOf(at.getTime() - staleMs);
    const stale = { id: In([...ids]), lastUsedAt: Or(IsNull(), LessThanOrEqual(staleAt)) };
    await this.dataSource.manager.update(ManagementKeyEntity, stale, { lastUsedAt: at });
  }

  /** @returns whether the key was not revoked before. */
  async revoke(tx: EntityManager, organizationId: string, id: string, at: Instant): Promise<boolean> {
    const unrevoked = { organizationId, id, revokedAt: IsNull() };
    const { affected } = await tx.update(ManagementKeyEntity, unrevoked, { revokedAt: at });
    return affected === 1;
  }

  /** Revokes every key of an identity in an organization. */
  async revokeAllOf(
    tx: EntityManager,
    { organizationId, identityId }: Pick<NewManagementKey, 'organizationId' | 'identityId'>,
    at: Instant,
  ): Promise<void> {
    const unrevoked = { organizationId, identityId, revokedAt: IsNull() };
    await tx.update(ManagementKeyEntity, unrevoked, { revokedAt: at });
  }

  /**
   * The keys of former members stay in the list as not enabled, as a record of past access. `findOwner` decides
   * separately whether a key authenticates.
   */
  private select(within: EntityManager, organizationId: string, at: Instant, id?: string): Promise<ManagementKey[]> {
    return within.query(
      `SELECT k.id, k.organization_id AS "organizationId", k.identity_id AS "userId", k.name,
              k.token_hint AS "tokenHint", k.access_grant AS "grant", k.source, k.label, k.client_id AS "clientId",
              k.last_used_at AS "lastUsedAt", k.created_at AS "createdAt",
              k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt",
              k.revoked_at IS NULL AND m.identity_id IS NOT NULL AND coalesce(k.expires_at > $2, true) AS enabled
         FROM management_keys k
         LEFT JOIN memberships m ON m.organization_id = k.organization_id AND m.identity_id = k.identity_id
        WHERE k.organization_id = $1 AND k.id = coalesce($3, k.id)
        ORDER BY k.created_at DESC, k.id DESC`,
      [organizationId, at, id ?? null],
    );
  }
}
