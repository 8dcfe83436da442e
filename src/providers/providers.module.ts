import { Module } from '@nestjs/common';
import { AccessModule } from '../accounts/access/access.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { EntitlementsModule } from '../limits/plans/entitlements.module.js';
import { PricingModule } from '../pricing/pricing.module.js';
import { AssumedProviders } from './assumed-providers.service.js';
import { ProviderHealthRepository } from './health/provider-health.repository.js';
import { ProviderHealth } from './health/provider-health.service.js';
import { ProviderDirectory } from './provider-directory.js';
import { ProviderDrafts } from './provider-drafts.js';
import { ProviderGatewayDrafts } from './provider-gateways/provider-gateway-drafts.js';
import { ProviderGatewayListing } from './provider-gateways/provider-gateway-listing.js';
import { ProviderGatewaysController } from './provider-gateways/provider-gateways.controller.js';
import { ProviderGatewaysRepository } from './provider-gateways/provider-gateways.repository.js';
import { ProviderGatewaysService } from './provider-gateways/provider-gateways.service.js';
import { CustomPrices, ProviderListing } from './provider-listing.service.js';
import { ProviderProbe } from './provider-probe.js';
import { ProviderRoutes } from './provider-routes.service.js';
import { ProvidersController } from './providers.controller.js';
import { ProvidersRepository } from './providers.repository.js';
import { ProvidersService } from './providers.service.js';

/**
 * Provider instances: their sealed keys or the gateways they are routed through, addresses and custom prices, a test of
 * a credential, the snapshots that calls read, and whether calls to a provider fail. Connections to the gateways: their
 * sealed tokens, a test of a token, and the providers that use them.
 *
 * Tables: providers, provider_gateways, provider_health. Routes: `/v1/admin/providers*`,
 * `/v1/admin/provider-gateways*`. Configuration topics: `providers` and `provider_gateways`, keyed by account. Codes:
 * slug_taken, gateway_in_use, conflict, not_found, provider_key_invalid, provider_not_supported_by_gateway,
 * provider_gateway_managed, provider_unavailable, billing_plan_limit_reached. Log lines: provider_secret_unavailable,
 * provider_unreadable, provider_health_write_failed.
 */
@Module({
  imports: [EntitlementsModule, AccessModule, PricingModule, IdempotencyModule],
  controllers: [ProvidersController, ProviderGatewaysController],
  providers: [
    ProvidersRepository,
    CustomPrices,
    ProviderDrafts,
    ProviderRoutes,
    ProviderDirectory,
    ProviderHealth,
    ProviderHealthRepository,
    ProvidersService,
    ProviderProbe,
    ProviderListing,
    AssumedProviders,
    ProviderGatewaysRepository,
    ProviderGatewayDrafts,
    ProviderGatewaysService,
    ProviderGatewayListing,
  ],
  exports: [
    AssumedProviders,
    CustomPrices,
    ProviderDirectory,
    ProviderHealth,
    ProviderGatewaysService,
    ProviderListing,
    ProvidersService,
  ],
})
export class ProvidersModule {}
