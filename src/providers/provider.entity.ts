import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import type { Instant } from '../common/clock.js';
import { OrganizationEntity } from '../identity/organization.entity.js';
import { ProviderGatewayEntity } from './gateways/provider-gateway.entity.js';

/** A provider instance; its key is sealed. */
@Entity('providers')
@Check('providers_gateway_route_check', 'gateway_route IS NULL OR provider_gateway_id IS NOT NULL')
@Check('providers_one_credential_check', 'provider_gateway_id IS NULL OR (secret_blob IS NULL AND base_url IS NULL)')
@Check('providers_status_check', "status IN ('active', 'disabled')")
@Unique('providers_slug_key', ['organizationId', 'slug'])
@Index('providers_gateway_idx', ['providerGatewayId'])
@ForeignKey(() => ProviderGatewayEntity, ['organizationId', 'providerGatewayId'], ['organizationId', 'id'], {
  name: 'providers_gateway_fkey',
})
export class ProviderEntity {
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'providers_pkey' })
  id: string;

  @Column({ name: 'organization_id', type: 'text' })
  @ForeignKey(() => OrganizationEntity, { name: 'providers_organization_fkey', onDelete: 'CASCADE' })
  organizationId: string;

  @Column({ type: 'text' })
  type: string;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'secret_blob', type: 'text', nullable: true })
  secretBlob: string | null;

  @Column({ name: 'secret_hint', type: 'text', nullable: true })
  secretHint: string | null;

  @Column({ name: 'base_url', type: 'text', nullable: true })
  baseUrl: string | null;

  @Column({ type: 'json', nullable: true })
  pricing: object | null;

  @Column({ type: 'integer' })
  revision: number;

  @Column({ type: 'text' })
  status: 'active' | 'disabled';

  @Column({ name: 'created_by', type: 'text' })
  createdBy: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Instant;

  @Column({ name: 'provider_gateway_id', type: 'text', nullable: true })
  providerGatewayId: string | null;

  @Column({ name: 'gateway_route', type: 'json', nullable: true })
  gatewayRoute: object | null;
}
