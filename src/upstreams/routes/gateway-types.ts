/**
 * Kinds of upstream gateways that providers can be reached through.
 *
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export const GATEWAY_TYPES = ['cf_aig', 'vercel'] as const;

export type GatewayType = (typeof GATEWAY_TYPES)[number];

/**
 * Where an operator's gateway of one kind stands within that kind.
 *
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export interface GatewayPlace {
  readonly type: GatewayType;
  /** Of the gateway's own account; `cf_aig` only. */
  readonly accountId?: string;
  /** Within that account; `cf_aig` only. */
  readonly gatewayId?: string;
}

/** Base addresses of the gateway kinds, with a slash at the end. */
export type GatewayBaseUrls = Readonly<Record<GatewayType, string>>;

/**
 * What an instance may set for its way through a gateway; `vercel` only.
 *
 * Source: docs/reference/management-api.md#provider-gateways.
 */
export interface GatewayRouteOptions {
  /** Before model names instead of the type's own namespace; ends with a slash. */
  readonly modelPrefix?: string;
  /** The only providers that may serve behind the gateway. */
  readonly providerOnly?: readonly string[];
}
