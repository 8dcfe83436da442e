import { Check, Column, Entity, Index, PrimaryColumn } from 'typeorm';
import type { Instant } from '../common/clock.js';

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
