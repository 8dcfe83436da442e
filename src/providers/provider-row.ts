import type { CustomPrice } from '../pricing/custom-pricing.rules.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import type { GatewayRouteOptions } from '../upstreams/routes/gateway-types.js';

/** A pause keeps everything and can be ended at any time. Source: docs/reference/management-api.md#provider-writes. */
export type ProviderStatus = 'active' | 'disabled';

/** Custom prices by model, as they were written. */
export type StoredPricing = Readonly<Record<string, CustomPrice>>;

/** What a write may change of a provider instance. */
export interface ProviderState {
  readonly name: string;
  /** Sealed by the vault for this row and origin; null only where no key was ever stored. */
  readonly secretBlob: string | null;
  readonly secretHint: string | null;
  /** Canonical; null stands for the origin of the type. */
  readonly baseUrl: string | null;
  /** Options of its way through the gateway; null on direct instances, and where there are none. */
  readonly gatewayRoute: GatewayRouteOptions | null;
  readonly pricing: StoredPricing | null;
  readonly status: ProviderStatus;
}

/** A change as it is written: the members it names, and nothing of what others may write meanwhile. */
export interface ProviderWrite {
  readonly members: Partial<ProviderState>;
  /** What of the stored state went into the members: it must still be stored when they are written. */
  readonly builtOn: Partial<Pick<ProviderState, 'baseUrl' | 'secretBlob'>>;
}

/** A provider instance that is still to be stored. */
export interface NewProvider extends ProviderState {
  readonly id: string;
  readonly organizationId: string;
  readonly type: ProviderType;
  readonly slug: string;
  /** The upstream gateway that owns the credential; null for an instance with a key of its own. */
  readonly providerGatewayId: string | null;
  /** Identity of the creator. */
  readonly createdBy: string;
}

/** A stored provider instance. */
export interface ProviderRow extends NewProvider {
  /** 1 when created, one more with each write. */
  readonly revision: number;
  /** ISO-8601, UTC, milliseconds. */
  readonly createdAt: string;
}
