import { Injectable } from '@nestjs/common';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { ConfigChange } from '../../platform/database/config-changes.js';
import type { ProviderType } from '../../upstreams/provider-types.js';
import { servesType } from '../../upstreams/routes/gateway-route.js';
import type { ProviderGatewayRow } from './provider-gateway.entity.js';
import { ProviderGatewaysRepository } from './provider-gateways.repository.js';

/** Topic of configuration changes, keyed by account; evicts cached gateways. */
export const PROVIDER_GATEWAYS_TOPIC = 'provider_gateways';

/** A change of an account's gateways. */
export function providerGatewaysChange(organizationId: string): ConfigChange {
  return { topic: PROVIDER_GATEWAYS_TOPIC, key: organizationId };
}

/** Read access to gateways for the providers; uncached. */
@Injectable()
export class ProviderGatewayListing {
  constructor(private readonly gateways: ProviderGatewaysRepository) {}

  /** Every gateway of an account, oldest first, including revoked ones. */
  listForOrganization(organizationId: string): Promise<readonly ProviderGatewayRow[]> {
    return this.gateways.list(organizationId);
  }

  /** The gateway, if it belongs to the account and is active. */
  async findActive(organizationId: string, id: string): Promise<ProviderGatewayRow | undefined> {
    const row = await this.gateways.find(organizationId, id);
    return row?.status === 'active' ? row : undefined;
  }

  /**
   * @throws not_found unknown, another account's, or not active.
   * @throws provider_not_supported_by_gateway it does not serve the type.
   * Source: docs/reference/management-api.md#provider-writes, docs/reference/management-api.md#testing-a-provider-key.
   */
  async require(organizationId: string, id: string, type: ProviderType): Promise<ProviderGatewayRow> {
    const gateway = await this.findActive(organizationId, id);
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
  return new GatewayError('not_found', {
    message: 'Provider gateway not found.',
    reason: 'provider_gateway_not_found',
  });
}
