import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import type { Instant } from '../../common/clock.js';

/** An organization: the tenant that owns everything else. */
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

/** A person, or a service identity, that acts in organizations. */
@Entity('identities')
@Check('identities_email_check', "(kind = 'human') = (email IS NOT NULL)")
@Check('identities_kind_check', "kind IN ('human', 'service')")
@Index('identities_email_key', { synchronize: false })
export class IdentityEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'identities_pkey' })
  id: string;

  @Column({ type: 'text' })
  kind: 'human' | 'service';

  @Column({ type: 'text', nullable: true })
  name: string | null;

  @Column({ type: 'text', nullable: true })
  email: string | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'email_verified', type: 'boolean', default: false })
  emailVerified: boolean;

  @Column({ type: 'text', nullable: true })
  image: string | null;

  @Column({ name: 'updated_at', type: 'timestamptz', nullable: true })
  updatedAt: Instant | null;
}

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
