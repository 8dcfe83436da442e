import type { KnownProvider, KnownProviders } from '../app-directory/config/app-references.rules.js';
import type { PriceBook } from '../pricing/price-book.js';
import type { ListedProvider, ProviderListing } from '../providers/provider-listing.service.js';
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

  isBillableAnywhere(model: string): boolean {
    return (
      PROVIDER_TYPES.some((type) => this.prices.find(type, model) !== undefined) ||
      this.all.some((provider) => this.listing.isBillable(provider, model))
    );
  }
}
