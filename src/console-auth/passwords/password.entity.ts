import { Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { IdentityEntity } from '../../identity/identity.entity.js';

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
