import type { GatewayType } from '../../upstreams/routes/gateway-types.js';

/** Whether providers may be called through it; a revoked one is kept for the providers that name it. */
export type GatewayStatus = 'active' | 'revoked';

/**
 * Where it stands within its kind; empty for kinds that have one place for everybody.
 *
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export interface GatewayConfig {
  readonly accountId?: string;
  readonly gatewayId?: string;
}

/** A gateway that is still to be stored. */
export interface NewGateway {
  readonly id: string;
  readonly organizationId: string;
  readonly type: GatewayType;
  readonly name: string;
  readonly config: GatewayConfig;
  /** The token, sealed by the vault for this row. */
  readonly secretBlob: string;
  readonly secretHint: string;
  /** Identity of the creator. */
  readonly createdBy: string;
}

/** A stored connection to an upstream gateway. */
export interface GatewayRow extends NewGateway {
  /** 1 when created, one more with each write. */
  readonly revision: number;
  readonly status: GatewayStatus;
  /** ISO-8601, UTC, milliseconds. */
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** What a write may change of a stored gateway; an absent member stays as it is. */
export type GatewayChange = Partial<Pick<GatewayRow, 'name' | 'secretBlob' | 'secretHint'>>;

/** How many providers are routed through one gateway, by their status. */
export interface GatewayUse {
  readonly active: number;
  readonly disabled: number;
}

export const NOT_USED: GatewayUse = { active: 0, disabled: 0 };
