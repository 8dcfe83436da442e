import { Injectable } from '@nestjs/common';
import type { KnownProvider, KnownProviders } from '../app-directory/config/app-references.rules.js';
import type { CompiledPrice } from '../pricing/model-price.js';
import { PriceBook } from '../pricing/price-book.js';
import { AssumedProviders } from '../providers/assumed-providers.service.js';
import type { CreateProviderRequest } from '../providers/dto/provider.request.js';
import { type ListedProvider, ProviderListing } from '../providers/provider-listing.service.js';
import type { ApiStyle } from '../upstreams/api-style.rules.js';
import { PROVIDER_TYPES } from '../upstreams/provider-types.js';

/** The providers of one account, for validating configurations. */
export class AccountProviders implements KnownProviders {
  constructor(
    /** Oldest first, including disabled ones. */
    readonly all: readonly ListedProvider[],
    private readonly listing: Pick<ProviderListing, 'isBillable'>,
    private readonly prices: Pick<PriceBook, 'find'>,
  ) {}

  isBillable({ id }: KnownProvider, model: string, styles?: readonly ApiStyle[]): boolean {
    const provider = this.all.find((candidate) => candidate.id === id);
    return provider !== undefined && this.listing.isBillable(provider, model, styles);
  }

  /** The price of a model at an instance today; undefined: only the provider has it. */
  priceOf({ slug }: Pick<KnownProvider, 'slug'>, model: string): CompiledPrice | undefined {
    const provider = this.all.find((candidate) => candidate.slug === slug);
    return provider && this.prices.find(provider.type, model, provider.customPrices);
  }

  isBillableAnywhere(model: string): boolean {
    return (
      PROVIDER_TYPES.some((type) => this.prices.find(type, model) !== undefined) ||
      this.all.some((provider) => this.listing.isBillable(provider, model))
    );
  }
}

/** Reads the current providers of an account. */
@Injectable()
export class AccountProvidersService {
  constructor(
    private readonly listing: ProviderListing,
    private readonly prices: PriceBook,
    private readonly assumed: AssumedProviders,
  ) {}

  /** @param assumed instances that are to be added or changed first. @throws invalid_request an entry is not valid. */
  async of(organizationId: string, assumed: readonly CreateProviderRequest[] = []): Promise<AccountProviders> {
    const all =
      assumed.length === 0
        ? await this.listing.listForOrganization(organizationId)
        : await this.assumed.list(organizationId, assumed);
    return new AccountProviders(all, this.listing, this.prices);
  }
}
