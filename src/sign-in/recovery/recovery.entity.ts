import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { IdentityEntity, OrganizationEntity } from '../../accounts/access/organization.entity.js';
import type { Instant } from '../../common/clock.js';

/** A recovery code that is not used, hashed like passwords. */
@Entity('recovery_codes')
@Check('recovery_codes_position_check', 'position BETWEEN 0 AND 9')
export class RecoveryCodeEntity {
  @PrimaryColumn({ name: 'identity_id', type: 'text', primaryKeyConstraintName: 'recovery_codes_pkey' })
  @ForeignKey(() => IdentityEntity, { name: 'recovery_codes_identity_fkey', onDelete: 'CASCADE' })
  identityId: string;

  /** The first character of the code. */
  @PrimaryColumn({ type: 'smallint', primaryKeyConstraintName: 'recovery_codes_pkey' })
  position: number;

  @Column({ name: 'code_hash', type: 'text' })
  codeHash: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;
}

/** A link with which a person sets a new password; only the newest is valid. */
@Entity('password_resets')
@Unique('password_resets_identity_key', ['identityId'])
@Index('password_resets_issuer_idx', ['issuerId'])
@Index('password_resets_organization_idx', ['organizationId'])
export class PasswordResetEntity {
  /** SHA-256 of the token in the link, hexadecimal. */
  @PrimaryColumn({ name: 'token_hash', type: 'text', primaryKeyConstraintName: 'password_resets_pkey' })
  tokenHash: string;

  @Column({ name: 'identity_id', type: 'text' })
  @ForeignKey(() => IdentityEntity, { name: 'password_resets_identity_fkey', onDelete: 'CASCADE' })
  identityId: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'password_resets_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  /** The owner who created the link. */
  @Column({ name: 'issuer_id', type: 'text' })
  @ForeignKey(() => IdentityEntity, { name: 'password_resets_issuer_fkey', onDelete: 'CASCADE' })
  issuerId: string;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;
}
