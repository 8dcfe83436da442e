import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { IdentityEntity, OrganizationEntity } from '../access/organization.entity.js';

/** A management key, whose token is kept as a hash, or the connection of an OAuth client. */
@Entity('management_keys')
@Check('management_keys_client_check', "(source = 'oauth') = (client_id IS NOT NULL)")
@Check('management_keys_grant_check', "access_grant IN ('read', 'manage')")
@Check('management_keys_source_check', "source IN ('console', 'cli', 'bootstrap', 'oauth')")
@Check('management_keys_token_check', "(source = 'oauth') = (token_hash IS NULL)")
@Unique('management_keys_token_hash_key', ['tokenHash'])
@Index('management_keys_organization_idx', ['organizationId'])
export class ManagementKeyEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'management_keys_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'management_keys_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @Column({ name: 'identity_id', type: 'text' })
  @ForeignKey(() => IdentityEntity, { name: 'management_keys_identity_fkey', onDelete: 'CASCADE' })
  identityId: string;

  @Column({ type: 'text' })
  name: string;

  /** Null for a connection, whose tokens are in oauth_tokens. */
  @Column({ name: 'token_hash', type: 'text', nullable: true })
  tokenHash: string | null;

  @Column({ name: 'token_hint', type: 'text' })
  tokenHint: string;

  @Column({ name: 'access_grant', type: 'text' })
  accessGrant: 'read' | 'manage';

  @Column({ type: 'text' })
  source: 'console' | 'cli' | 'bootstrap' | 'oauth';

  @Column({ type: 'text', nullable: true })
  label: string | null;

  /** The client of a connection; null for a key. */
  @Column({ name: 'client_id', type: 'text', nullable: true })
  clientId: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt: Instant | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt: Instant | null;

  /** When a key was last used, or a connection got tokens. */
  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt: Instant | null;
}
