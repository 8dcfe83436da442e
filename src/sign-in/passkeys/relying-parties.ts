import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Environment } from '../../platform/config/environment.js';
import { type RelyingParty, relyingPartyOf } from './relying-party.rules.js';

/** The site whose passkeys a request may use. */
@Injectable()
export class RelyingParties {
  constructor(private readonly environment: Environment) {}

  find({ headers, raw }: FastifyRequest): RelyingParty | undefined {
    return relyingPartyOf(this.environment.PUBLIC_URL, headers.host, raw.socket.localPort);
  }

  /** @throws not_found browsers have no passkeys at this address. */
  require(request: FastifyRequest): RelyingParty {
    const site = this.find(request);
    if (site !== undefined) return site;
    throw new GatewayError('not_found', {
      message: 'Passkeys need https and a host name: set PUBLIC_URL, or open the console at http://localhost.',
      reason: 'passkey_site_unusable',
    });
  }
}
