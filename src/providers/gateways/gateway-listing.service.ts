import { Injectable } from '@nestjs/common';
import type { GatewayRow } from './gateway-row.js';
import { GatewaysRepository } from './gateways.repository.js';

/** Topic of configuration changes, keyed by account: whoever keeps gateways in memory forgets them. */
export const GATEWAYS_TOPIC = 'provider_gateways';

/** What the room of providers may know of gateways; reads what is stored now. */
@Injectable()
export class GatewayListing {
  constructor(private readonly gateways: GatewaysRepository) {}

  /** Every gateway of an account, oldest first, revoked ones included. */
  listForOrganization(organizationId: string): Promise<readonly GatewayRow[]> {
    return this.gateways.list(organizationId);
  }

  /** The gateway, when it is the account's and providers may be routed through it. */
  async findActive(organizationId: string, id: string): Promise<GatewayRow | undefined> {
    const row = await this.gateways.find(organizationId, id);
    return row?.status === 'active' ? row : undefined;
  }
}
