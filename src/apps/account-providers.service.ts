import { Injectable } from '@nestjs/common';
import { PriceBook } from '../pricing/price-book.js';
import { ProviderListing } from '../providers/provider-listing.service.js';
import { AccountProviders } from './account-providers.js';

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
