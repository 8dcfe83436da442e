import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { OrganizationEntity } from '../accounts/access/organization.entity.js';
import type { Instant } from '../common/clock.js';

/** The answer to a creation with an `Idempotency-Key`; sealed where it holds a key. */
@Entity('creation_receipts')
@Check('creation_receipts_kind_check', "kind IN ('app', 'app_key', 'provider', 'provider_gateway')")
@Index('creation_receipts_expires_idx', ['expiresAt'])
@Index('creation_receipts_organization_idx', ['organizationId'])
@Index('creation_receipts_sealed_idx', ['sealedUntil'], { where: 'sealed_answer IS NOT NULL' })
export class IdempotencyRecordEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'creation_receipts_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'creation_receipts_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @Column({ name: 'identity_id', type: 'text' })
  identityId: string;

  @Column({ name: 'credential_id', type: 'text' })
  credentialId: string;

  @Column({ type: 'text' })
  kind: 'app' | 'app_key' | 'provider' | 'provider_gateway';

  @Column({ name: 'proof_hash', type: 'text' })
  proofHash: string;

  @Column({ name: 'request_hash', type: 'text' })
  requestHash: string;

  @Column({ name: 'app_id', type: 'text', nullable: true })
  appId: string | null;

  @Column({ name: 'key_id', type: 'text', nullable: true })
  keyId: string | null;

  @Column({ name: 'provider_id', type: 'text', nullable: true })
  providerId: string | null;

  @Column({ name: 'provider_gateway_id', type: 'text', nullable: true })
  providerGatewayId: string | null;

  @Column({ type: 'text', nullable: true })
  answer: string | null;

  @Column({ name: 'sealed_answer', type: 'text', nullable: true })
  sealedAnswer: string | null;

  @Column({ name: 'sealed_until', type: 'timestamptz', nullable: true })
  sealedUntil: Instant | null;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'expires_at', type: 'timestamptz' })
  expiresAt: Instant;
}
