import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Instant } from '../common/clock.js';

/** An account: the tenant that owns everything else. */
@Entity('organizations')
export class OrganizationEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'organizations_pkey' })
  id: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt: Instant | null;
}
