import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import type { Creation, Write } from '../../idempotency/creation.js';
import { Creating, Idempotent } from '../../idempotency/idempotent.decorator.js';
import { ProviderProbe } from '../provider-probe.js';
import { BodyByType, readByType, type SentBody } from './dto/by-gateway-type.js';
import {
  CREATE_FORMS,
  type CreateGatewayRequest,
  RenameGatewayRequest,
  RotateGatewayRequest,
  TEST_FORMS,
  type TestGatewayRequest,
} from './dto/provider-gateway.request.js';
import {
  DeletedProviderGatewayResponse,
  ProviderGatewayListResponse,
  ProviderGatewayResponse,
  ProviderGatewayTestResponse,
} from './dto/provider-gateway.response.js';
import { type CountedProviderGateway, ProviderGatewaysService } from './provider-gateways.service.js';

const TAG = 'Admin provider gateways';

@Controller('v1/admin')
export class ProviderGatewaysController {
  constructor(
    private readonly gateways: ProviderGatewaysService,
    private readonly probe: ProviderProbe,
  ) {}

  @Get('provider-gateways')
  @AdminAccess('read')
  @Operation({ id: 'listProviderGateways', tag: TAG, summary: 'List the upstream gateways of the account' })
  @ApiOkResponse({ type: ProviderGatewayListResponse })
  async list(@Admin() admin: AdminPrincipal): Promise<ProviderGatewayListResponse> {
    return ProviderGatewayListResponse.from(await this.gateways.list(admin));
  }

  @Post('provider-gateways')
  @AdminAccess('write')
  @Operation({
    id: 'createProviderGateway',
    tag: TAG,
    summary: 'Add an upstream gateway',
    description: 'Stores the token sealed. The gateway is not called; test the token first.',
  })
  @BodyByType(CREATE_FORMS)
  @Idempotent('provider_gateway', 'provider_unavailable')
  @ApiCreatedResponse({ type: ProviderGatewayResponse })
  async create(
    @Admin() admin: AdminPrincipal,
    @Creating() creation: Creation,
    @Body() sent: SentBody,
  ): Promise<ProviderGatewayResponse> {
    const body = readByType<CreateGatewayRequest>(CREATE_FORMS, sent);
    return creation.run(
      (write: Write<CountedProviderGateway>) => this.gateways.create(admin, body, write),
      (gateway) => ({ body: ProviderGatewayResponse.from(gateway), ids: { providerGatewayId: gateway.row.id } }),
    );
  }

  @Post('provider-gateways/test')
  @AdminAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'testProviderGateway',
    tag: TAG,
    summary: 'Test a token without storing it',
    description:
      'Makes one cheap authenticated call through the gateway. Every outcome is returned as a result, not as an error.',
  })
  @BodyByType(TEST_FORMS)
  @Fails('invalid_request')
  @ApiOkResponse({ type: ProviderGatewayTestResponse })
  async test(@Body() sent: SentBody): Promise<ProviderGatewayTestResponse> {
    return ProviderGatewayTestResponse.from(
      await this.probe.testGateway(readByType<TestGatewayRequest>(TEST_FORMS, sent)),
    );
  }

  @Patch('provider-gateways/:id')
  @AdminAccess('write')
  @Operation({
    id: 'updateProviderGateway',
    tag: TAG,
    summary: 'Rename an upstream gateway',
    description: 'Type, configuration and token stay. `revision`, when sent, must be the stored one.',
  })
  @Fails('invalid_request', 'not_found', 'conflict')
  @ApiOkResponse({ type: ProviderGatewayResponse })
  async rename(
    @Admin() admin: AdminPrincipal,
    @Param('id') id: string,
    @Body() body: RenameGatewayRequest,
  ): Promise<ProviderGatewayResponse> {
    return ProviderGatewayResponse.from(await this.gateways.rename(admin, id, body));
  }

  @Post('provider-gateways/:id/rotate')
  @AdminAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'rotateProviderGateway',
    tag: TAG,
    summary: 'Replace the token of an upstream gateway',
    description:
      'Every provider that is routed through it uses the new token within a second. The gateway is not called; test the token first. `revision`, when sent, must be the stored one.',
  })
  @Fails('invalid_request', 'not_found', 'conflict', 'provider_unavailable')
  @ApiOkResponse({ type: ProviderGatewayResponse })
  async rotate(
    @Admin() admin: AdminPrincipal,
    @Param('id') id: string,
    @Body() body: RotateGatewayRequest,
  ): Promise<ProviderGatewayResponse> {
    return ProviderGatewayResponse.from(await this.gateways.rotate(admin, id, body));
  }

  @Delete('provider-gateways/:id')
  @AdminAccess('write')
  @Operation({
    id: 'deleteProviderGateway',
    tag: TAG,
    summary: 'Delete an upstream gateway',
    description:
      'Permanently deletes its token. Refused while any provider, disabled ones included, is routed through it.',
  })
  @Fails('invalid_request', 'not_found', 'gateway_in_use')
  @ApiOkResponse({ type: DeletedProviderGatewayResponse })
  async delete(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<DeletedProviderGatewayResponse> {
    await this.gateways.delete(admin, id);
    return DeletedProviderGatewayResponse.from(id);
  }
}
