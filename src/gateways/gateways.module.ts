import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { GatewayListing } from './gateway-listing.service.js';
import { GatewaysRepository } from './gateways.repository.js';

/**
 * Connections to upstream gateways that providers can be routed through.
 *
 * Tables: provider_gateways. Routes: `/v1/admin/provider-gateways*`. Configuration topic: `provider_gateways`, keyed by
 * account. Codes: gateway_in_use, conflict, not_found, provider_unavailable.
 */
@Module({
  imports: [IdentityModule],
  providers: [GatewaysRepository, GatewayListing],
  exports: [GatewayListing],
})
export class GatewaysModule {}
