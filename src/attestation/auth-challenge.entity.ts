import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AppEntity } from '../app-directory/app.entity.js';
import type { Instant } from '../common/clock.js';

/** A challenge that a device has to sign. */
@Entity('auth_challenges')
@Index('auth_challenges_app_idx', ['appId'])
@Index('auth_challenges_expiry_idx', ['expiresAt'])
export class AuthChallengeEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'auth_challenges_pkey' })
  challenge: string;

  @Column({ name: 'app_id', type: 'text' })
  @ForeignKey(() => AppEntity, { name: 'auth_challenges_app_fkey', onDelete: 'CASCADE' })
  appId: string;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;
}
