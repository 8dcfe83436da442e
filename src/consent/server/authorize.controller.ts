import { Controller, Get, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { PageAccess } from '../../console/pages/page.js';
import { PageErrorFilter } from '../../console/pages/page-error.filter.js';
import { AddressLimited } from '../../platform/address-limits/address-limit.guard.js';
import { addressOf } from '../../platform/address-limits/client-address.rules.js';
import { Environment } from '../../platform/config/environment.js';
import { SingleParameters } from '../authorizations/authorization.rules.js';
import { Authorizations } from './authorizations.service.js';
import { OAuthEnabledGuard } from './oauth.guard.js';

/** Where clients send the browser. Requests that cannot be trusted to redirect end on a page. */
@Controller('oauth/authorize')
@UseFilters(PageErrorFilter)
export class AuthorizeController {
  constructor(
    private readonly authorizations: Authorizations,
    private readonly environment: Environment,
  ) {}

  @Get()
  @PageAccess()
  @UseGuards(OAuthEnabledGuard)
  @AddressLimited('oauth_authorize')
  async authorize(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const parameters = SingleParameters.of(new URLSearchParams(request.url.split('?').slice(1).join('?')));
    if ('repeated' in parameters) {
      throw new GatewayError('invalid_request', {
        message: 'invalid_request: a parameter is given twice.',
        reason: 'oauth_parameter_repeated',
      });
    }
    const address = addressOf(request, this.environment.TRUSTED_PROXIES);
    const location = await this.authorizations.begin(parameters, address);
    void reply.code(302).header('location', location).send();
  }
}
