import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AppEntity } from '../app-directory/app.entity.js';
import type { Instant } from '../common/clock.js';

/** An end user of an application. */
@Entity('app_users')
@Check('app_users_status_check', "status IN ('active', 'blocked')")
@Index('app_users_blocked_idx', ['appId', 'id'], { where: "status = 'blocked'" })
@Index('app_users_claim_pending_idx', ['appId'], { where: 'claim_pending_since IS NOT NULL' })
@Index('app_users_recent_idx', { synchronize: false })
@Index('app_users_unseen_idx', ['recentAt'], { where: "status = 'active'" })
export class AppUserEntity {
  @Column({ name: 'organization_id', type: 'text' })
  organizationId: string;

  @PrimaryColumn({ name: 'app_id', type: 'text', primaryKeyConstraintName: 'app_users_pkey' })
  @ForeignKey(() => AppEntity, { name: 'app_users_app_fkey', onDelete: 'CASCADE' })
  appId: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'app_users_pkey' })
  id: string;

  @Column({ type: 'text' })
  status: 'active' | 'blocked';

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'last_seen_at', type: 'timestamptz', nullable: true })
  lastSeenAt: Instant | null;

  @Column({ name: 'claim_pending_since', type: 'timestamptz', nullable: true })
  claimPendingSince: Instant | null;

  @Column({ name: 'is_virtual', type: 'boolean', default: false })
  isVirtual: boolean;

  @Column({ name: 'recent_at', type: 'timestamptz', insert: false, update: false })
  recentAt: Instant;
}
