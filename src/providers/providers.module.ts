import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { ProviderDrafts } from './drafts/provider-drafts.js';
import { ProviderDirectory } from './provider-directory.js';
import { ProviderListing } from './provider-listing.service.js';
import { ProviderProbe } from './provider-probe.service.js';
import { ProvidersController } from './providers.controller.js';
import { ProvidersRepository } from './providers.repository.js';
import { ProvidersService } from './providers.service.js';

/**
 * Provider instances: their sealed keys, addresses and custom prices, a test of a key, and the snapshots that calls
 * read them from.
 *
 * Tables: providers. Routes: `/v1/admin/providers*`. Configuration topic: `providers`, keyed by account.
 * Codes: slug_taken, conflict, not_found, provider_key_invalid, provider_unavailable.
 * Log lines: provider_secret_unavailable, provider_unreadable.
 */
@Module({
  imports: [IdentityModule, PricingModule],
  controllers: [ProvidersController],
  providers: [ProvidersRepository, ProviderDrafts, ProviderDirectory, ProvidersService, ProviderProbe, ProviderListing],
  exports: [ProviderDirectory, ProviderListing],
})
export class ProvidersModule {}
