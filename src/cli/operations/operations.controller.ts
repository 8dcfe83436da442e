import { Body, Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiOkResponse } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { PublicAccess } from '../../common/http/access.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Secret } from '../../common/log/secret.js';
import { addressOf } from '../../platform/address-limits/client-address.rules.js';
import { Environment } from '../../platform/config/environment.js';
import { BootstrapRequest, CLI_BODY, CreateOperationRequest } from '../dto/cli.request.js';
import { OperationResponse } from '../dto/operation.response.js';
import { CliBootstrap } from './cli-bootstrap.service.js';
import { OperationAccess, OperationToken } from './operation-token.guard.js';
import { Operations } from './operations.service.js';
import { TerminalOperations } from './terminal-operations.service.js';

const TAG = 'CLI';

@Controller('v1/cli')
export class OperationsController {
  constructor(
    private readonly operations: Operations,
    private readonly terminals: TerminalOperations,
    private readonly bootstrap: CliBootstrap,
    private readonly environment: Environment,
  ) {}

  @Post('bootstrap')
  @PublicAccess()
  @RouteConfig(CLI_BODY)
  @HttpCode(200)
  @Operation({
    id: 'bootstrapCliAccount',
    tag: TAG,
    summary: 'Open the first account of an empty deployment',
    description:
      'Returns its key. The same token returns the same key within 15 minutes, later a new one that replaces it, and none after the account is claimed.',
  })
  @Fails('invalid_request', 'invalid_request@413', 'conflict', 'forbidden', 'rate_limited')
  @ApiOkResponse({ type: OperationResponse })
  async open(@Body() { token }: BootstrapRequest, @Req() request: FastifyRequest): Promise<OperationResponse> {
    const address = addressOf(request, this.environment.TRUSTED_PROXIES);
    return OperationResponse.from(await this.bootstrap.open(new Secret(token), address));
  }

  @Post('operations')
  @AdminAccess('write', { credential: 'key' })
  @RouteConfig(CLI_BODY)
  @HttpCode(200)
  @Operation({
    id: 'createCliOperation',
    tag: TAG,
    summary: 'Change the account from a terminal',
    description:
      'Runs at once, or returns the `url` of a page where a person types the provider’s key or claims the account, within 15 minutes. The same request with the same token returns the state, and issued keys for 15 minutes.',
  })
  @Fails(
    'invalid_request',
    'invalid_request@413',
    'conflict',
    'rate_limited',
    'not_found',
    'app_not_found',
    'slug_taken',
    'handle_taken',
  )
  @Fails('provider_not_supported_by_gateway', 'provider_unavailable', 'service_unavailable')
  @Fails('billing_plan_limit_reached', 'billing_payment_required', 'billing_unavailable')
  @ApiOkResponse({ type: OperationResponse })
  async create(
    @Admin() admin: AdminPrincipal,
    @Body() body: CreateOperationRequest,
    @Req() request: FastifyRequest,
  ): Promise<OperationResponse> {
    const address = addressOf(request, this.environment.TRUSTED_PROXIES);
    return OperationResponse.from(await this.terminals.create(admin, body.toOperation(address)));
  }

  @Get('operations/:id')
  @OperationAccess()
  @Operation({
    id: 'pollCliOperation',
    tag: TAG,
    summary: 'Read the state of an operation',
    description: 'Only the first answer after the approval of a login has its key.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: OperationResponse })
  async poll(@Param('id') id: string, @OperationToken() token: Secret): Promise<OperationResponse> {
    return OperationResponse.from(await this.operations.poll(id, token));
  }
}
