import { Check, Column, Entity, ForeignKey, Index, PrimaryColumn, Unique } from 'typeorm';
import { OrganizationEntity } from '../accounts/access/organization.entity.js';
import type { Instant } from '../common/clock.js';
import type { CustomPrice } from '../pricing/custom-pricing.rules.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import type { GatewayRouteOptions } from '../upstreams/routes/gateway-types.js';
import { ProviderGatewayEntity } from './provider-gateways/provider-gateway.entity.js';

/**
 * A disabled instance keeps its data and can be enabled again.
 *
 * Source: docs/reference/management-api.md#provider-writes.
 */
export type ProviderStatus = 'active' | 'disabled';

export const TEST_RESULTS = ['accepted', 'refused', 'unreachable', 'unexpected_status'] as const;

/** What a test of a stored credential found. */
export type TestResult = (typeof TEST_RESULTS)[number];

/** Custom prices by model, as written. */
export type StoredPricing = Readonly<Record<string, CustomPrice>>;

/** A provider instance. */
@Entity('providers')
@Check('providers_gateway_route_check', 'gateway_route IS NULL OR provider_gateway_id IS NOT NULL')
@Check('providers_one_credential_check', 'provider_gateway_id IS NULL OR (secret_blob IS NULL AND base_url IS NULL)')
@Check('providers_status_check', "status IN ('active', 'disabled')")
@Check('providers_test_check', '(tested_at IS NULL) = (test_result IS NULL)')
@Check('providers_test_result_check', "test_result IN ('accepted', 'refused', 'unreachable', 'unexpected_status')")
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
  type: ProviderType;

  @Column({ type: 'text' })
  slug: string;

  @Column({ type: 'text' })
  name: string;

  /** Sealed by the vault for this row and address; null only without a key. */
  @Column({ name: 'secret_blob', type: 'text', nullable: true })
  secretBlob: string | null;

  @Column({ name: 'secret_hint', type: 'text', nullable: true })
  secretHint: string | null;

  /** Canonical; null: the default address of the type. */
  @Column({ name: 'base_url', type: 'text', nullable: true })
  baseUrl: string | null;

  @Column({ type: 'json', nullable: true })
  pricing: StoredPricing | null;

  /** 1 after creation, incremented by each write. */
  @Column({ type: 'integer' })
  revision: number;

  @Column({ type: 'text' })
  status: ProviderStatus;

  /** Identity id. */
  @Column({ name: 'created_by', type: 'text' })
  createdBy: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Instant;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Instant;

  /** The upstream gateway that owns the credential; null for an instance with its own key. */
  @Column({ name: 'provider_gateway_id', type: 'text', nullable: true })
  providerGatewayId: string | null;

  /** Options of its route through the gateway; null on direct instances, and without options. */
  @Column({ name: 'gateway_route', type: 'json', nullable: true })
  gatewayRoute: GatewayRouteOptions | null;

  /** When the stored credential was last tested; null after it was replaced. */
  @Column({ name: 'tested_at', type: 'timestamptz', nullable: true })
  testedAt: Instant | null;

  @Column({ name: 'test_result', type: 'text', nullable: true })
  testResult: TestResult | null;
}

/** A stored provider instance. */
export type ProviderRow = Readonly<ProviderEntity>;

/** A provider instance to store. */
export type NewProvider = Omit<ProviderRow, 'revision' | 'createdAt' | 'updatedAt' | 'testedAt' | 'testResult'>;

/** The writable members of a provider instance. */
export type ProviderState = Pick<
  ProviderRow,
  'name' | 'secretBlob' | 'secretHint' | 'baseUrl' | 'gatewayRoute' | 'pricing' | 'status'
>;

/** A write of the named members; all other members stay untouched. */
export interface ProviderWrite {
  readonly members: Partial<ProviderState>;
  /** The stored values that the members depend on. The write fails when they have changed. */
  readonly builtOn: Partial<Pick<ProviderState, 'baseUrl' | 'secretBlob'>>;
}
