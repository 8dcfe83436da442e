import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Instant } from '../common/clock.js';
import { IdentityEntity } from './identity.entity.js';
import { OrganizationEntity } from './organization.entity.js';

/** An identity in an organization, with its role. */
@Entity('memberships')
@Check('memberships_role_check', "role IN ('owner', 'admin', 'member')")
@Index('memberships_identity_idx', ['identityId'])
export class MembershipEntity {
  @PrimaryColumn({ name: 'organization_id', type: 'text', primaryKeyConstraintName: 'memberships_pkey' })
  @ForeignKey(() => OrganizationEntity, { name: 'memberships_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @PrimaryColumn({ name: 'identity_id', type: 'text', primaryKeyConstraintName: 'memberships_pkey' })
  @ForeignKey(() => IdentityEntity, { name: 'memberships_identity_fkey', onDelete: 'CASCADE' })
  identityId: string;

  @Column({ type: 'text' })
  role: 'owner' | 'admin' | 'member';

  @Column({ name: 'joined_at', type: 'timestamptz' })
  joinedAt: Instant;
}
