import { Injectable } from '@nestjs/common';
import { toCustomPriceMap } from '../pricing/custom-pricing.rules.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import { PriceBook } from '../pricing/price-book.js';
import { API_STYLES, type ApiStyle, type EndpointStyle } from '../upstreams/api-style.rules.js';
import type { ProviderType } from '../upstreams/provider-types.js';
import type { ProviderRoute } from '../upstreams/routes/provider-route.js';
import type { ProviderStatus } from './provider.entity.js';
import { ProviderRoutes, type RoutableRow, type RoutedProvider } from './provider-routes.service.js';
import { ProvidersRepository } from './providers.repository.js';

/** A stored provider instance, for validating configurations. */
export interface ListedProvider {
  readonly id: string;
  readonly slug: string;
  readonly type: ProviderType;
  readonly status: ProviderStatus;
  /** Undefined for a route that this version does not support. */
  readonly routeKind: ProviderRoute['kind'] | undefined;
  /** The API styles that its type and route support. */
  readonly apiStyles: readonly ApiStyle[];
  /** The named-endpoint styles that its type and route support. */
  readonly endpointStyles: readonly EndpointStyle[];
  /** The API styles whose responses, on its route, report the provider's cost. */
  readonly costStyles: readonly ApiStyle[];
  readonly customPrices: ReadonlyMap<string, CompiledPrice>;
}

/** Read access to providers for other management services; uncached. */
@Injectable()
export class ProviderListing {
  constructor(
    private readonly providers: ProvidersRepository,
    private readonly routes: ProviderRoutes,
    private readonly prices: PriceBook,
  ) {}

  /** Every instance of an account, oldest first, including disabled ones. */
  async listForOrganization(organizationId: string): Promise<readonly ListedProvider[]> {
    return (await this.routes.routed(organizationId, await this.providers.list(organizationId))).map(toListed);
  }

  /**
   * Whether calls of a model can be priced: by the instance's custom price, by the catalog, or by a reported cost.
   *
   * @param styles the possible API styles of the call; every style of the instance when absent. With an empty list only
   * a price counts.
   * Source: docs/reference/accounting.md#reported-costs, docs/reference/accounting.md#cost-of-a-call,
   * docs/reference/management-api.md#references-to-providers-and-models.
   */
  isBillable(provider: ListedProvider, model: string, styles: readonly ApiStyle[] = provider.apiStyles): boolean {
    if (this.prices.find(provider.type, model, provider.customPrices) !== undefined) return true;
    return styles.some((style) => provider.costStyles.includes(style));
  }
}

/** An instance for validations. One whose route this version does not support has no styles. */
export function toListed({ row, route }: RoutedProvider<RoutableRow>): ListedProvider {
  const { id, slug, type, status, pricing } = row;
  return {
    id,
    slug,
    type,
    status,
    routeKind: route?.kind,
    apiStyles: route?.apiStyles ?? [],
    endpointStyles: [...(route?.endpointPaths.keys() ?? [])],
    costStyles: API_STYLES.filter((style) => route?.reportsCost(style)),
    customPrices: toCustomPriceMap(pricing),
  };
}

/** Custom prices of provider instances, including disabled ones. */
@Injectable()
export class CustomPrices {
  constructor(private readonly providers: ProvidersRepository) {}

  /**
   * The account's current custom prices for `PriceBook.find`, by the id of the provider instance; deleted instances are
   * absent.
   */
  async pricesByProvider(organizationId: string): Promise<ReadonlyMap<string, ReadonlyMap<string, CompiledPrice>>> {
    const rows = await this.providers.list(organizationId);
    return new Map(rows.map((row) => [row.id, toCustomPriceMap(row.pricing)]));
  }
}
