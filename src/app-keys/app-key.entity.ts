import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { AppEntity } from '../app-directory/app.entity.js';
import type { Instant } from '../common/clock.js';
import type { Secret } from '../common/log/secret.js';

/** An API key of an application, kept as a hash. */
@Entity('app_keys')
@Check('app_keys_status_check', "status IN ('active', 'revoked')")
@Unique('app_keys_key_hash_key', ['keyHash'])
@Index('app_keys_app_idx', { synchronize: false })
export class AppKeyEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'app_keys_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  organizationId: string;

  @Column({ name: 'app_id', type: 'text' })
  @ForeignKey(() => AppEntity, { name: 'app_keys_app_fkey', onDelete: 'CASCADE' })
  appId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'key_hash', type: 'text' })
  keyHash: string;

  @Column({ name: 'key_prefix', type: 'text' })
  keyPrefix: string;

  @Column({ type: 'text' })
  status: 'active' | 'revoked';

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt: Instant | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt: Instant | null;

  @Column({ name: 'last_used_at', type: 'timestamptz', nullable: true })
  lastUsedAt: Instant | null;
}

/** Only an active key authenticates. `expired` is not stored: it follows from the time. */
export type AppKeyStatus = 'active' | 'revoked' | 'expired';

/** A key for authentication; it belongs to one application. */
export interface AppKey {
  readonly id: string;
  readonly appId: string;
  readonly organizationId: string;
  readonly status: AppKeyStatus;
}

/** A stored key for display. */
export interface AppKeyRow {
  readonly id: string;
  readonly name: string;
  readonly keyPrefix: string;
  readonly status: AppKeyStatus;
  readonly createdAt: Instant;
  /** At most one hour behind; null until the first use. */
  readonly lastUsedAt: Instant | null;
  /** Null: it does not expire. */
  readonly expiresAt: Instant | null;
}

/** A new key; the only result that holds its plaintext. */
export interface IssuedAppKey {
  readonly id: string;
  readonly name: string;
  readonly key: Secret;
  readonly keyPrefix: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant | null;
}

/** The application of a key. */
export interface KeyOwner {
  readonly id: string;
  readonly organizationId: string;
}
