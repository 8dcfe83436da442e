import { Injectable } from '@nestjs/common';
import { Environment } from '../platform/config/environment.js';
import { isProviderType, type ProviderType } from '../upstreams/provider-types.js';
import { gatewayRoute, servesType } from '../upstreams/routes/gateway-route.js';
import type { GatewayBaseUrls, GatewayRouteOptions } from '../upstreams/routes/gateway-types.js';
import { directRoute, type ProviderRoute } from '../upstreams/routes/provider-route.js';
import type { ProviderRow } from './provider.entity.js';
import type { ProviderGatewayRow } from './provider-gateways/provider-gateway.entity.js';
import { ProviderGatewayListing } from './provider-gateways/provider-gateway-listing.js';

/** What decides the route of an instance, and what a configuration can name of it. */
export type RoutableRow = Pick<
  ProviderRow,
  'id' | 'slug' | 'type' | 'status' | 'pricing' | 'baseUrl' | 'providerGatewayId' | 'gatewayRoute'
>;

/** An instance with the route of its calls. */
export interface RoutedProvider<Row extends RoutableRow = ProviderRow> {
  readonly row: Row;
  /** Null when it is called directly, and when its gateway is missing. */
  readonly gateway: ProviderGatewayRow | null;
  /** Null for a route that this version does not support: gateway missing or of another kind, or type unknown. */
  readonly route: ProviderRoute | null;
}

/** Resolves the routes of provider instances; uncached. */
@Injectable()
export class ProviderRoutes {
  readonly #baseUrls: GatewayBaseUrls;

  constructor(
    private readonly gateways: ProviderGatewayListing,
    { CF_AIG_BASE_URL, VERCEL_AI_GATEWAY_BASE_URL }: Environment,
  ) {
    this.#baseUrls = Object.freeze({ cf_aig: CF_AIG_BASE_URL, vercel: VERCEL_AI_GATEWAY_BASE_URL });
  }

  /** The account's gateways by id, including revoked ones; no query when no row references one. */
  async gatewaysOf(
    organizationId: string,
    rows: readonly Pick<ProviderRow, 'providerGatewayId'>[],
  ): Promise<ReadonlyMap<string, ProviderGatewayRow>> {
    if (rows.every(({ providerGatewayId }) => providerGatewayId === null)) return NO_GATEWAYS;
    const all = await this.gateways.listForOrganization(organizationId);
    return new Map(all.map((gateway) => [gateway.id, gateway]));
  }

  /** Rows of one account with their routes, in the same order. */
  async routed<Row extends RoutableRow>(organizationId: string, rows: readonly Row[]): Promise<RoutedProvider<Row>[]> {
    const gateways = await this.gatewaysOf(organizationId, rows);
    return rows.map((row) => this.route(row, gateways));
  }

  /** The route of a row. A row that this version cannot call can still be listed and deleted. */
  route<Row extends RoutableRow>(row: Row, gateways: ReadonlyMap<string, ProviderGatewayRow>): RoutedProvider<Row> {
    if (!isProviderType(row.type)) return { row, gateway: null, route: null };
    if (row.providerGatewayId === null) return { row, gateway: null, route: directRoute(row.type, row.baseUrl) };
    const gateway = gateways.get(row.providerGatewayId) ?? null;
    const isServed = gateway !== null && servesType(gateway.type, row.type);
    return { row, gateway, route: isServed ? this.through(gateway, row.type, row.gatewayRoute) : null };
  }

  /** @throws TypeError for a type that the gateway does not serve. */
  through(
    { type: kind, config }: ProviderGatewayRow,
    type: ProviderType,
    options: GatewayRouteOptions | null,
  ): ProviderRoute {
    return gatewayRoute(type, { type: kind, ...config }, options, this.#baseUrls);
  }
}

const NO_GATEWAYS: ReadonlyMap<string, ProviderGatewayRow> = new Map();
