import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import { servesType } from '../../upstreams/routes/gateway-route.js';
import { GatewayListing } from '../gateways/gateway-listing.service.js';
import type { GatewayRow } from '../gateways/gateway-row.js';

/** Finds the gateway of an instance. */
@Injectable()
export class ProviderGateways {
  constructor(private readonly gateways: GatewayListing) {}

  /**
   * @throws not_found unknown, another account's, or not active.
   * @throws provider_not_supported_by_gateway it does not serve the type.
   * Source: docs/reference/management-api.md#provider-writes, docs/reference/management-api.md#testing-a-provider-key.
   */
  async require(organizationId: string, id: string, type: ProviderType): Promise<GatewayRow> {
    const gateway = await this.gateways.findActive(organizationId, id);
    if (gateway === undefined) throw noSuchGateway();
    if (!servesType(gateway.type, type)) {
      throw new GatewayError('provider_not_supported_by_gateway', {
        message: `A gateway of type "${gateway.type}" does not serve providers of type "${type}".`,
      });
    }
    return gateway;
  }
}

/** Refusal of a gateway that the account does not have. */
export function noSuchGateway(): GatewayError {
  return new GatewayError('not_found', { message: 'No such provider gateway.', reason: 'provider_gateway_not_found' });
}
