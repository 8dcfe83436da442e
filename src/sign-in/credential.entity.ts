import { Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { IdentityEntity } from '../accounts/access/organization.entity.js';
import type { Instant } from '../common/clock.js';

/** The password of a person, as a hash. */
@Entity('passwords')
export class PasswordEntity {
  @PrimaryColumn({ name: 'identity_id', type: 'text', primaryKeyConstraintName: 'passwords_pkey' })
  @ForeignKey(() => IdentityEntity, { name: 'passwords_identity_fkey', onDelete: 'CASCADE' })
  identityId: string;

  @Column({ name: 'password_hash', type: 'text' })
  passwordHash: string;

  @Column({ name: 'changed_at', type: 'timestamptz' })
  changedAt: Instant;
}

/** A subject of an OpenID provider that signs in as a person. */
@Entity('openid_subjects')
@Index('openid_subjects_identity_idx', ['identityId'])
export class OpenidSubjectEntity {
  @Column({ type: 'text', default: 'google' })
  provider: string;

  @PrimaryColumn({
    type: 'text',
    primaryKeyConstraintName: 'openid_subjects_pkey',
    default: 'https://accounts.google.com',
  })
  issuer: string;

  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'openid_subjects_pkey' })
  subject: string;

  @Column({ name: 'identity_id', type: 'text' })
  @ForeignKey(() => IdentityEntity, { name: 'openid_subjects_identity_fkey', onDelete: 'CASCADE' })
  identityId: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;
}
