import { Injectable } from '@nestjs/common';
import type { GatewayRow } from './gateway-row.js';
import { GatewaysRepository } from './gateways.repository.js';

/** Topic of configuration changes, keyed by account; evicts cached gateways. */
export const GATEWAYS_TOPIC = 'provider_gateways';

/** Read access to gateways for the providers; uncached. */
@Injectable()
export class GatewayListing {
  constructor(private readonly gateways: GatewaysRepository) {}

  /** Every gateway of an account, oldest first, including revoked ones. */
  listForOrganization(organizationId: string): Promise<readonly GatewayRow[]> {
    return this.gateways.list(organizationId);
  }

  /** The gateway, if it belongs to the account and is active. */
  async findActive(organizationId: string, id: string): Promise<GatewayRow | undefined> {
    const row = await this.gateways.find(organizationId, id);
    return row?.status === 'active' ? row : undefined;
  }
}
