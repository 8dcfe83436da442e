import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { OrganizationEntity } from '../accounts/access/organization.entity.js';
import type { Instant } from '../common/clock.js';

/** Why the gateway disabled a webhook: its endpoint answered 410. */
export type WebhookDisabledReason = 'gone';

/** An endpoint of an account that receives events. */
@Entity('webhooks')
@Check('webhooks_disabled_reason_check', "disabled_reason IN ('gone')")
@Index('webhooks_organization_idx', ['organizationId', 'createdAt', 'id'])
export class WebhookEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'webhooks_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'webhooks_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  url: string;

  /** Exact types and prefixes such as `app_key.*`; null: every event. */
  @Column({ type: 'text', array: true, nullable: true })
  events: readonly string[] | null;

  /** Null: every application, and events without one. */
  @Column({ name: 'app_ids', type: 'text', array: true, nullable: true })
  appIds: readonly string[] | null;

  @Column({ type: 'boolean' })
  enabled: boolean;

  @Column({ name: 'disabled_reason', type: 'text', nullable: true })
  disabledReason: WebhookDisabledReason | null;

  @Column({ name: 'secret_blob', type: 'text' })
  secretBlob: string;

  /** Also signs until `previousUntil`. */
  @Column({ name: 'previous_secret_blob', type: 'text', nullable: true })
  previousSecretBlob: string | null;

  @Column({ name: 'previous_until', type: 'timestamptz', nullable: true })
  previousUntil: Instant | null;

  @Column({ name: 'created_by', type: 'text' })
  createdBy: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Instant;

  /** Until then one instance delivers to this webhook; nobody else does. */
  @Column({ name: 'leased_until', type: 'timestamptz' })
  leasedUntil: Instant;
}

/** A stored webhook. */
export type WebhookRow = Readonly<WebhookEntity>;
