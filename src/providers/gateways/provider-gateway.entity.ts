import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import type { Instant } from '../../common/clock.js';
import { OrganizationEntity } from '../../identity/organization.entity.js';

/** A connection to an upstream gateway; its token is sealed. */
@Entity('provider_gateways')
@Check('provider_gateways_status_check', "status IN ('active', 'revoked')")
@Unique('provider_gateways_account_key', ['organizationId', 'id'])
export class ProviderGatewayEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'provider_gateways_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'provider_gateways_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @Column({ type: 'text' })
  type: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'json' })
  config: object;

  @Column({ name: 'secret_blob', type: 'text' })
  secretBlob: string;

  @Column({ name: 'secret_hint', type: 'text' })
  secretHint: string;

  @Column({ type: 'integer' })
  revision: number;

  @Column({ type: 'text' })
  status: 'active' | 'revoked';

  @Column({ name: 'created_by', type: 'text' })
  createdBy: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Instant;
}
