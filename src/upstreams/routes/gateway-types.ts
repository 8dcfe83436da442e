/**
 * Kinds of upstream gateways that can serve providers.
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export const GATEWAY_TYPES = ['cf_aig', 'vercel'] as const;

export type GatewayType = (typeof GATEWAY_TYPES)[number];

/**
 * Address of an operator's gateway within its kind.
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export interface GatewayPlace {
  readonly type: GatewayType;
  /** The operator's account at the gateway; `cf_aig` only. */
  readonly accountId?: string;
  /** Gateway within that account; `cf_aig` only. */
  readonly gatewayId?: string;
}

/** Base URLs of the gateway kinds, with a trailing slash. */
export type GatewayBaseUrls = Readonly<Record<GatewayType, string>>;

/**
 * Route options of an instance; `vercel` only.
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export interface GatewayRouteOptions {
  /** Prefix of model names instead of the type's own namespace; ends with a slash. */
  readonly modelPrefix?: string;
  /** The only providers that the gateway may use. */
  readonly providerOnly?: readonly string[];
}
