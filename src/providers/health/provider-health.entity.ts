import { Check, Column, Entity, ForeignKey, PrimaryColumn } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { ProviderEntity } from '../provider.entity.js';
import type { FailingReason, HealthSlot } from './provider-health.rules.js';

/** How the latest calls to a provider ended, on all instances, and whether it is failing. */
@Entity('provider_health')
@Check('provider_health_reason_check', "failing_reason IN ('key_refused', 'errors')")
@Check('provider_health_failing_check', '(failing_reason IS NULL) = (failing_since IS NULL)')
export class ProviderHealthEntity {
  @PrimaryColumn({ name: 'provider_id', type: 'text', primaryKeyConstraintName: 'provider_health_pkey' })
  @ForeignKey(() => ProviderEntity, { name: 'provider_health_provider_fkey', onDelete: 'CASCADE' })
  providerId: string;

  @Column({ name: 'failing_reason', type: 'text', nullable: true })
  failingReason: FailingReason | null;

  @Column({ name: 'failing_since', type: 'timestamptz', nullable: true })
  failingSince: Instant | null;

  @Column({ name: 'good_in_a_row', type: 'integer' })
  goodInARow: number;

  @Column({ type: 'jsonb' })
  slots: readonly HealthSlot[];
}
