import type { GatewayType } from '../../upstreams/routes/gateway-types.js';

/** Only an active gateway takes provider calls; a revoked one is kept for the providers that reference it. */
export type GatewayStatus = 'active' | 'revoked';

/**
 * The address of the gateway within its kind; empty for kinds with one common address.
 *
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export interface GatewayConfig {
  readonly accountId?: string;
  readonly gatewayId?: string;
}

/** A gateway to store. */
export interface NewGateway {
  readonly id: string;
  readonly organizationId: string;
  readonly type: GatewayType;
  readonly name: string;
  readonly config: GatewayConfig;
  /** The token, sealed by the vault for this row. */
  readonly secretBlob: string;
  readonly secretHint: string;
  /** Identity id. */
  readonly createdBy: string;
}

/** A stored connection to an upstream gateway. */
export interface GatewayRow extends NewGateway {
  /** 1 after creation, incremented by each write. */
  readonly revision: number;
  readonly status: GatewayStatus;
  /** ISO-8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** The writable members of a stored gateway; an absent member stays as it is. */
export type GatewayChange = Partial<Pick<GatewayRow, 'name' | 'secretBlob' | 'secretHint'>>;

/** The number of providers that are routed through one gateway, by status. */
export interface GatewayUse {
  readonly active: number;
  readonly disabled: number;
}

export const NOT_USED: GatewayUse = { active: 0, disabled: 0 };
