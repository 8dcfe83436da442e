import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { PublicAccess } from '../../common/http/access.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Secret } from '../../common/log/secret.js';
import { addressOf } from '../../platform/address-limits/client-address.rules.js';
import { Environment } from '../../platform/config/environment.js';
import { CLI_BODY, OpenLoginRequest, RedeemLoginRequest } from '../dto/cli.request.js';
import { LoginResponse, RedeemedLoginResponse } from '../dto/cli-login.response.js';
import { OperationAccess } from '../operations/operation-token.guard.js';
import { CliLogins } from './cli-logins.service.js';
import { LoginKeys } from './login-keys.service.js';

const TAG = 'CLI';

@Controller('v1/cli')
export class CliLoginController {
  constructor(
    private readonly logins: CliLogins,
    private readonly keys: LoginKeys,
    private readonly environment: Environment,
  ) {}

  @Post('login')
  @PublicAccess()
  @RouteConfig(CLI_BODY)
  @HttpCode(200)
  @Operation({
    id: 'openCliLogin',
    tag: TAG,
    summary: 'Log in a terminal',
    description:
      'Opens a login that a person approves within 15 minutes at `url`, or at `/cli` with `userCode`. The same token returns the state of the login. `pollCliOperation` returns the key, or with `loopbackRedirect` `redeemCliLogin`.',
  })
  @Fails('invalid_request', 'invalid_request@413', 'conflict', 'rate_limited')
  @ApiOkResponse({ type: LoginResponse })
  async open(@Body() body: OpenLoginRequest, @Req() request: FastifyRequest): Promise<LoginResponse> {
    const address = addressOf(request, this.environment.TRUSTED_PROXIES);
    return LoginResponse.from(await this.logins.open(body.toLogin(address)));
  }

  @Post('login/:id/redeem')
  @OperationAccess()
  @RouteConfig(CLI_BODY)
  @HttpCode(200)
  @Operation({
    id: 'redeemCliLogin',
    tag: TAG,
    summary: 'Exchange the one-time code for the key',
    description: 'For logins with `loopbackRedirect`; works once.',
  })
  @Fails('invalid_request', 'invalid_request@413', 'operation_pending', 'operation_denied', 'already_completed')
  @Fails('operation_expired')
  @ApiOkResponse({ type: RedeemedLoginResponse })
  async redeem(@Param('id') id: string, @Body() { redeemCode }: RedeemLoginRequest): Promise<RedeemedLoginResponse> {
    const { key, account } = await this.keys.redeem(id, new Secret(redeemCode));
    return RedeemedLoginResponse.from(key.reveal(), account);
  }
}
