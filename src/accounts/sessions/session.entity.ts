import { Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { IdentityEntity } from '../access/organization.entity.js';

/** A browser session of a person; its token is kept as a hash. */
@Entity('sessions')
@Unique('sessions_token_hash_key', ['tokenHash'])
@Index('sessions_expires_idx', ['expiresAt'])
@Index('sessions_identity_idx', ['identityId'])
export class SessionEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'sessions_pkey' })
  id: string;

  @Column({ name: 'identity_id', type: 'text' })
  @ForeignKey(() => IdentityEntity, { name: 'sessions_identity_fkey', onDelete: 'CASCADE' })
  identityId: string;

  @Column({ name: 'token_hash', type: 'text' })
  tokenHash: string;

  @Column({ type: 'text', nullable: true })
  address: string | null;

  @Column({ name: 'user_agent', type: 'text', nullable: true })
  userAgent: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'renewed_at', type: 'timestamptz' })
  renewedAt: Instant;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;
}
