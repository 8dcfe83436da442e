import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { AppEntity } from '../../app-directory/app.entity.js';
import type { Instant } from '../../common/clock.js';
import type { DeviceFacts } from './device-facts.rules.js';

/** A challenge that a device has to sign. */
@Entity('auth_challenges')
@Index('auth_challenges_app_idx', ['appId'])
@Index('auth_challenges_expiry_idx', ['expiresAt'])
@Index('auth_challenges_key_idx', ['appId', 'keyId'], { unique: true })
export class AuthChallengeEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'auth_challenges_pkey' })
  challenge: string;

  @Column({ name: 'app_id', type: 'text' })
  @ForeignKey(() => AppEntity, { name: 'auth_challenges_app_fkey', onDelete: 'CASCADE' })
  appId: string;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;

  /** Of the framework's client: the key that it was issued for, which has at most one; null for any. */
  @Column({ name: 'key_id', type: 'text', nullable: true })
  keyId: string | null;
}

/** The public key of a registered device, with its assertion counter. */
@Entity('device_keys')
@Check('device_keys_environment_check', "environment IN ('production', 'development')")
@Check(
  'device_keys_proof_check',
  "proof IN ('app_attest', 'key_attestation', 'play_integrity') AND (proof = 'app_attest') = (environment IS NOT NULL)",
)
@Index('device_keys_unused_idx', ['lastUsedAt'])
@Index('device_keys_user_idx', { synchronize: false })
export class DeviceKeyEntity {
  @Column({ name: 'organization_id', type: 'text' })
  organizationId: string;

  @PrimaryColumn({ name: 'app_id', type: 'text', primaryKeyConstraintName: 'device_keys_pkey' })
  @ForeignKey(() => AppEntity, { name: 'device_keys_app_fkey', onDelete: 'CASCADE' })
  appId: string;

  @PrimaryColumn({ name: 'key_id', type: 'text', primaryKeyConstraintName: 'device_keys_pkey' })
  keyId: string;

  @Column({ name: 'user_id', type: 'text' })
  userId: string;

  @Column({ name: 'public_key', type: 'text' })
  publicKey: string;

  @Column({ type: 'bigint' })
  counter: string;

  @Column({ type: 'text', default: 'app_attest' })
  proof: 'app_attest' | 'key_attestation' | 'play_integrity';

  /** Of App Attest. */
  @Column({ type: 'text', nullable: true })
  environment: 'production' | 'development' | null;

  /** The facts that rules read; null for App Attest keys that were registered before facts were kept. */
  @Column({ type: 'jsonb', nullable: true })
  facts: DeviceFacts | null;

  /** Of App Attest: CMS, as sent; not validated. */
  @Column({ type: 'bytea', nullable: true })
  receipt: Buffer | null;

  /** Of Android key attestation: serial numbers of the certificates, leaf first. */
  @Column({ name: 'chain_serials', type: 'text', array: true, nullable: true })
  chainSerials: string[] | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'last_used_at', type: 'timestamptz' })
  lastUsedAt: Instant;
}
