import { Injectable } from '@nestjs/common';
import type { KnownProvider, KnownProviders } from '../app-directory/config/app-references.rules.js';
import { PriceBook } from '../pricing/price-book.js';
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
  ) {}

  async of(organizationId: string): Promise<AccountProviders> {
    return new AccountProviders(await this.listing.listForOrganization(organizationId), this.listing, this.prices);
  }
}
