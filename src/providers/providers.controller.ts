import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import type { Creation, Write } from '../idempotency/creation.js';
import { Creating, Idempotent } from '../idempotency/idempotent.decorator.js';
import { CreateProviderRequest, TestProviderRequest, UpdateProviderRequest } from './dto/provider.request.js';
import {
  DeletedProviderResponse,
  ProviderListResponse,
  ProviderResponse,
  ProviderTestResponse,
} from './dto/provider.response.js';
import { ProviderProbe } from './provider-probe.js';
import type { RoutedProvider } from './provider-routes.service.js';
import { ProvidersService } from './providers.service.js';

const TAG = 'Admin providers';

@Controller('v1/admin')
export class ProvidersController {
  constructor(
    private readonly providers: ProvidersService,
    private readonly probe: ProviderProbe,
  ) {}

  @Get('providers')
  @AdminAccess('read')
  @Operation({ id: 'listProviders', tag: TAG, summary: 'List the provider instances of the account' })
  @ApiOkResponse({ type: ProviderListResponse })
  async list(@Admin() admin: AdminPrincipal): Promise<ProviderListResponse> {
    return ProviderListResponse.from(await this.providers.list(admin));
  }

  @Post('providers')
  @AdminAccess('write')
  @Operation({
    id: 'createProvider',
    tag: TAG,
    summary: 'Add a provider instance',
    description:
      'Stores the key sealed, or names the upstream gateway that has the credential. The provider is not called; test first.',
  })
  @Idempotent('provider', 'not_found', 'slug_taken', 'provider_not_supported_by_gateway', 'provider_unavailable')
  @ApiCreatedResponse({ type: ProviderResponse })
  create(
    @Admin() admin: AdminPrincipal,
    @Creating() creation: Creation,
    @Body() body: CreateProviderRequest,
  ): Promise<ProviderResponse> {
    return creation.run(
      (write: Write<RoutedProvider>) => this.providers.create(admin, body, write),
      (provider) => ({ body: ProviderResponse.from(provider), ids: { providerId: provider.row.id } }),
    );
  }

  @Post('providers/test')
  @AdminAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'testProviderCredential',
    tag: TAG,
    summary: 'Test a key without storing it',
    description:
      'Makes one cheap authenticated call. A refused key is an error; any other outcome is returned as a result.',
  })
  @Fails(
    'invalid_request',
    'provider_key_invalid',
    'not_found',
    'provider_not_supported_by_gateway',
    'provider_unavailable',
  )
  @ApiOkResponse({ type: ProviderTestResponse })
  async test(@Admin() admin: AdminPrincipal, @Body() body: TestProviderRequest): Promise<ProviderTestResponse> {
    return ProviderTestResponse.from(await this.probe.test(admin, body));
  }

  @Post('providers/:id/test')
  @AdminAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'testProvider',
    tag: TAG,
    summary: 'Test the stored key of a provider instance',
    description:
      'As `providers/test`, with the stored key, or the token of its gateway. Keeps the result as `lastTest`.',
  })
  @Fails('provider_key_invalid', 'not_found', 'provider_unavailable')
  @ApiOkResponse({ type: ProviderTestResponse })
  async testStored(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<ProviderTestResponse> {
    return ProviderTestResponse.from(await this.probe.testStored(await this.providers.get(admin, id)));
  }

  @Put('providers/:id')
  @AdminAccess('write')
  @Operation({
    id: 'updateProvider',
    tag: TAG,
    summary: 'Change a provider instance',
    description:
      'Changes only the given members. Type and slug stay. `revision`, when sent, must be the stored one; without it there is no conflict.',
  })
  @Fails(
    'invalid_request',
    'not_found',
    'conflict',
    'provider_gateway_managed',
    'provider_unavailable',
    'service_unavailable',
  )
  @ApiOkResponse({ type: ProviderResponse })
  async update(
    @Admin() admin: AdminPrincipal,
    @Param('id') id: string,
    @Body() body: UpdateProviderRequest,
  ): Promise<ProviderResponse> {
    return ProviderResponse.from(await this.providers.update(admin, id, body));
  }

  @Delete('providers/:id')
  @AdminAccess('write')
  @Operation({
    id: 'deleteProvider',
    tag: TAG,
    summary: 'Delete a provider instance',
    description:
      'Permanently deletes key and prices. Calls of applications that name it fail with `provider_not_configured`.',
  })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: DeletedProviderResponse })
  async delete(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<DeletedProviderResponse> {
    await this.providers.delete(admin, id);
    return DeletedProviderResponse.from(id);
  }
}
