import { Module } from '@nestjs/common';
import { EntitlementsModule } from '../entitlements/entitlements.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { CustomPrices } from '../pricing/custom-prices.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { ProviderDrafts } from './drafts/provider-drafts.js';
import { ProviderGateways } from './drafts/provider-gateways.service.js';
import { GatewayReferences } from './gateways/gateway-references.js';
import { ProviderGatewaysModule } from './gateways/provider-gateways.module.js';
import { ProviderDirectory } from './provider-directory.js';
import { ProviderListing } from './provider-listing.service.js';
import { ProviderProbe } from './provider-probe.service.js';
import { ProviderRoutes } from './provider-routes.service.js';
import { ProvidersController } from './providers.controller.js';
import { ProvidersRepository } from './providers.repository.js';
import { ProvidersService } from './providers.service.js';
import { StoredCustomPrices } from './stored-custom-prices.service.js';

/**
 * Provider instances: their sealed keys or the gateways they are routed through, addresses and custom prices, a test of
 * a credential, and the snapshots that calls read them from. Tells the room of gateways what is in use.
 *
 * Tables: providers. Routes: `/v1/admin/providers*`. Configuration topic: `providers`, keyed by account; listens to
 * `provider_gateways` too.
 * Codes: slug_taken, conflict, not_found, provider_key_invalid, provider_not_supported_by_gateway,
 * provider_gateway_managed, provider_unavailable, billing_plan_limit_reached.
 * Log lines: provider_secret_unavailable, provider_unreadable.
 */
@Module({
  imports: [EntitlementsModule, ProviderGatewaysModule, IdentityModule, PricingModule, IdempotencyModule],
  controllers: [ProvidersController],
  providers: [
    ProvidersRepository,
    { provide: GatewayReferences, useExisting: ProvidersRepository },
    { provide: CustomPrices, useClass: StoredCustomPrices },
    ProviderDrafts,
    ProviderGateways,
    ProviderRoutes,
    ProviderDirectory,
    ProvidersService,
    ProviderProbe,
    ProviderListing,
  ],
  exports: [CustomPrices, GatewayReferences, ProviderDirectory, ProviderListing],
})
export class ProvidersModule {}
