import { Module } from '@nestjs/common';
import { EntitlementsModule } from '../entitlements/entitlements.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { CustomPrices } from './custom-prices.service.js';
import { ProviderDrafts } from './drafts/provider-drafts.js';
import { ProviderGateways } from './drafts/provider-gateways.service.js';
import { GatewayDrafts } from './gateways/gateway-drafts.js';
import { GatewayListing } from './gateways/gateway-listing.service.js';
import { GatewayProbe } from './gateways/gateway-probe.service.js';
import { GatewaysController } from './gateways/gateways.controller.js';
import { GatewaysRepository } from './gateways/gateways.repository.js';
import { GatewaysService } from './gateways/gateways.service.js';
import { ProviderDirectory } from './provider-directory.js';
import { ProviderListing } from './provider-listing.service.js';
import { ProviderProbe } from './provider-probe.service.js';
import { ProviderRoutes } from './provider-routes.service.js';
import { ProvidersController } from './providers.controller.js';
import { ProvidersRepository } from './providers.repository.js';
import { ProvidersService } from './providers.service.js';

/**
 * Provider instances: their sealed keys or the gateways they are routed through, addresses and custom prices, a test of
 * a credential, and the snapshots that calls read. Connections to the gateways: their sealed tokens, a test of a token,
 * and the providers that use them.
 *
 * Tables: providers, provider_gateways. Routes: `/v1/admin/providers*`, `/v1/admin/provider-gateways*`. Configuration
 * topics: `providers` and `provider_gateways`, keyed by account. Codes: slug_taken, gateway_in_use, conflict,
 * not_found, provider_key_invalid, provider_not_supported_by_gateway, provider_gateway_managed, provider_unavailable,
 * billing_plan_limit_reached. Log lines: provider_secret_unavailable, provider_unreadable.
 */
@Module({
  imports: [EntitlementsModule, IdentityModule, PricingModule, IdempotencyModule],
  controllers: [ProvidersController, GatewaysController],
  providers: [
    ProvidersRepository,
    CustomPrices,
    ProviderDrafts,
    ProviderGateways,
    ProviderRoutes,
    ProviderDirectory,
    ProvidersService,
    ProviderProbe,
    ProviderListing,
    GatewaysRepository,
    GatewayDrafts,
    GatewaysService,
    GatewayProbe,
    GatewayListing,
  ],
  exports: [CustomPrices, ProviderDirectory, ProviderListing],
})
export class ProvidersModule {}
