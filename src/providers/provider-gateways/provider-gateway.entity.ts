import { Check, Column, Entity, ForeignKey, PrimaryColumn, Unique } from 'typeorm';
import { OrganizationEntity } from '../../accounts/access/organization.entity.js';
import type { Instant } from '../../common/clock.js';
import type { GatewayType } from '../../upstreams/routes/gateway-types.js';

/** Only an active gateway takes provider calls; a revoked one is kept for the providers that reference it. */
export type ProviderGatewayStatus = 'active' | 'revoked';

/**
 * The address of the gateway within its kind; empty for kinds with one common address.
 *
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export interface ProviderGatewayConfig {
  readonly accountId?: string;
  readonly gatewayId?: string;
}

/** A connection to an upstream gateway. */
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
  type: GatewayType;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'json' })
  config: ProviderGatewayConfig;

  /** The token, sealed by the vault for this row. */
  @Column({ name: 'secret_blob', type: 'text' })
  secretBlob: string;

  @Column({ name: 'secret_hint', type: 'text' })
  secretHint: string;

  /** 1 after creation, incremented by each write. */
  @Column({ type: 'integer' })
  revision: number;

  @Column({ type: 'text' })
  status: ProviderGatewayStatus;

  /** Identity id. */
  @Column({ name: 'created_by', type: 'text' })
  createdBy: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Instant;
}

/** A stored connection to an upstream gateway. */
export type ProviderGatewayRow = Readonly<ProviderGatewayEntity>;

/** A gateway to store. */
export type NewProviderGateway = Omit<ProviderGatewayRow, 'revision' | 'status' | 'createdAt' | 'updatedAt'>;

/** The writable members of a stored gateway; an absent member stays as it is. */
export type ProviderGatewayChange = Partial<Pick<ProviderGatewayRow, 'name' | 'secretBlob' | 'secretHint'>>;

/** The number of providers that are routed through one gateway, by status. */
export interface ProviderGatewayUse {
  readonly active: number;
  readonly disabled: number;
}

export const NOT_USED: ProviderGatewayUse = { active: 0, disabled: 0 };
