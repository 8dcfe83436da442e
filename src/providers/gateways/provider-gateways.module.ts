import { Module } from '@nestjs/common';
import { EntitlementsModule } from '../../entitlements/entitlements.module.js';
import { IdempotencyModule } from '../../idempotency/idempotency.module.js';
import { IdentityModule } from '../../identity/identity.module.js';
import { GatewayDrafts } from './gateway-drafts.js';
import { GatewayListing } from './gateway-listing.service.js';
import { GatewayProbe } from './gateway-probe.service.js';
import { GatewaysController } from './gateways.controller.js';
import { GatewaysRepository } from './gateways.repository.js';
import { GatewaysService } from './gateways.service.js';

/**
 * Connections to upstream gateways that providers can be routed through: their sealed tokens, a test of a token, and
 * what providers may know of them. How many providers refer to one comes through the port `GatewayReferences`.
 *
 * Tables: provider_gateways. Routes: `/v1/admin/provider-gateways*`. Configuration topic: `provider_gateways`, keyed by
 * account. Codes: gateway_in_use, conflict, not_found, provider_unavailable,
 * billing_plan_limit_reached.
 */
@Module({
  imports: [EntitlementsModule, IdentityModule, IdempotencyModule],
  controllers: [GatewaysController],
  providers: [GatewaysRepository, GatewayDrafts, GatewaysService, GatewayProbe, GatewayListing],
  exports: [GatewayListing],
})
export class ProviderGatewaysModule {}
