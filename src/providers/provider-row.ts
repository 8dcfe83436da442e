import type { CustomPrice } from '../pricing/custom-pricing.rules.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import type { GatewayRouteOptions } from '../upstreams/routes/gateway-types.js';

/**
 * A disabled instance keeps its data and can be enabled again.
 *
 * Source: docs/reference/management-api.md#provider-writes.
 */
export type ProviderStatus = 'active' | 'disabled';

/** Custom prices by model, as written. */
export type StoredPricing = Readonly<Record<string, CustomPrice>>;

/** The writable members of a provider instance. */
export interface ProviderState {
  readonly name: string;
  /** Sealed by the vault for this row and origin; null only without a key. */
  readonly secretBlob: string | null;
  readonly secretHint: string | null;
  /** Canonical; null: the default address of the type. */
  readonly baseUrl: string | null;
  /** Options of its route through the gateway; null on direct instances, and without options. */
  readonly gatewayRoute: GatewayRouteOptions | null;
  readonly pricing: StoredPricing | null;
  readonly status: ProviderStatus;
}

/** A write of the named members; all other members stay untouched. */
export interface ProviderWrite {
  readonly members: Partial<ProviderState>;
  /** The stored values that the members depend on. The write fails when they have changed. */
  readonly builtOn: Partial<Pick<ProviderState, 'baseUrl' | 'secretBlob'>>;
}

/** A provider instance to store. */
export interface NewProvider extends ProviderState {
  readonly id: string;
  readonly organizationId: string;
  readonly type: ProviderType;
  readonly slug: string;
  /** The upstream gateway that owns the credential; null for an instance with its own key. */
  readonly providerGatewayId: string | null;
  /** Identity id. */
  readonly createdBy: string;
}

/** A stored provider instance. */
export interface ProviderRow extends NewProvider {
  /** 1 after creation, incremented by each write. */
  readonly revision: number;
  /** ISO-8601, UTC, milliseconds. */
  readonly createdAt: string;
}
