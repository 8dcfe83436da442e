import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Instant } from '../../../common/clock.js';
import { OrganizationEntity } from '../../access/organization.entity.js';

/** An invitation into an organization, and its outcome. */
@Entity('invitations')
@Check('invitations_ended_once_check', 'accepted_at IS NULL OR revoked_at IS NULL')
@Check('invitations_role_check', "role IN ('owner', 'admin', 'member')")
@Unique('invitations_token_hash_key', ['tokenHash'])
@Index('invitations_organization_idx', ['organizationId', 'createdAt'])
export class InvitationEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'invitations_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'invitations_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @Column({ type: 'text' })
  role: 'owner' | 'admin' | 'member';

  @Column({ type: 'text', nullable: true })
  email: string | null;

  @Column({ name: 'token_hash', type: 'text' })
  tokenHash: string;

  @Column({ name: 'invited_by', type: 'text' })
  invitedBy: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;

  @Column({ name: 'accepted_at', type: 'timestamptz', nullable: true })
  acceptedAt: Instant | null;

  @Column({ name: 'accepted_by', type: 'text', nullable: true })
  acceptedBy: string | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt: Instant | null;
}
