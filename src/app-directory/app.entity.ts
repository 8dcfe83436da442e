import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Instant } from '../common/clock.js';
import { OrganizationEntity } from '../identity/organization.entity.js';

/** An application and its configuration. */
@Entity('apps')
@Check('apps_status_check', "status IN ('active', 'disabled')")
@Index('apps_organization_idx', { synchronize: false })
export class AppEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'apps_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'apps_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'json' })
  config: object;

  @Column({ name: 'authentication_type', type: 'text' })
  authenticationType: string;

  @Column({ type: 'integer' })
  revision: number;

  @Column({ type: 'text' })
  status: 'active' | 'disabled';

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Instant;
}
