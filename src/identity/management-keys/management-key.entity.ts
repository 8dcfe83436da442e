import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { IdentityEntity, OrganizationEntity } from '../organization.entity.js';

/** A management key; its token is kept as a hash. */
@Entity('management_keys')
@Check('management_keys_grant_check', "access_grant IN ('read', 'manage')")
@Check('management_keys_source_check', "source IN ('console', 'cli', 'bootstrap', 'oauth')")
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

  @Column({ name: 'token_hash', type: 'text' })
  tokenHash: string;

  @Column({ name: 'token_hint', type: 'text' })
  tokenHint: string;

  @Column({ name: 'access_grant', type: 'text' })
  accessGrant: 'read' | 'manage';

  @Column({ type: 'text' })
  source: 'console' | 'cli' | 'bootstrap' | 'oauth';

  @Column({ type: 'text', nullable: true })
  label: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt: Instant | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt: Instant | null;
}
