import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Admin, AdminAccess } from '../access/admin-access.decorator.js';
import type { AdminPrincipal } from '../access/admin-principal.js';
import { CreateManagementKeyRequest } from './dto/create-management-key.request.js';
import {
  CreatedManagementKeyResponse,
  ManagementKeyListResponse,
  ManagementKeyResponse,
  RevokedCredentialResponse,
} from './dto/management-key.response.js';
import { ManagementKeysService } from './management-keys.service.js';

const TAG = 'Admin management keys';

@Controller('v1/admin/keys')
export class ManagementKeysController {
  constructor(private readonly keys: ManagementKeysService) {}

  @Get()
  @AdminAccess('read', { credential: 'session' })
  @Operation({
    id: 'listManagementKeys',
    tag: TAG,
    summary: 'List the management keys of the account',
    description: 'Newest first; revoked ones for 90 days.',
  })
  @ApiOkResponse({ type: ManagementKeyListResponse })
  async list(@Admin() admin: AdminPrincipal): Promise<ManagementKeyListResponse> {
    return ManagementKeyListResponse.from(await this.keys.list(admin));
  }

  @Post()
  @AdminAccess('write', { credential: 'session' })
  @Operation({
    id: 'createManagementKey',
    tag: TAG,
    summary: 'Make a management key',
    description: 'It is yours: it carries your role of the moment, in this account only. The key is shown once.',
  })
  @Fails('invalid_request', 'conflict')
  @ApiCreatedResponse({ type: CreatedManagementKeyResponse })
  async create(
    @Admin() admin: AdminPrincipal,
    @Body() body: CreateManagementKeyRequest,
  ): Promise<CreatedManagementKeyResponse> {
    return CreatedManagementKeyResponse.from(await this.keys.create(admin, body.name, body.chosenGrant()));
  }

  @Post(':id/revoke')
  @AdminAccess('write', { credential: 'session' })
  @HttpCode(200)
  @Operation({
    id: 'revokeManagementKey',
    tag: TAG,
    summary: 'Revoke a management key',
    description: 'Whoever’s of the account it is. It counts from the next request on; repeating it answers the same.',
  })
  @ApiParam({ name: 'id', description: 'Id of the key.', schema: { type: 'string' } })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: ManagementKeyResponse })
  async revoke(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<ManagementKeyResponse> {
    return ManagementKeyResponse.from(await this.keys.revoke(admin, id));
  }
}

@Controller('v1/cli/credential')
export class OwnCredentialController {
  constructor(private readonly keys: ManagementKeysService) {}

  @Delete()
  @AdminAccess('read', { credential: 'key' })
  @Operation({
    id: 'revokeCliCredential',
    tag: 'CLI',
    summary: 'End the key this is sent with',
    description: 'Whatever its owner’s role and its grant. It opens nothing from the next request on.',
  })
  @ApiOkResponse({ type: RevokedCredentialResponse })
  async revoke(@Admin() admin: AdminPrincipal): Promise<RevokedCredentialResponse> {
    await this.keys.revoke(admin, admin.credentialId);
    return RevokedCredentialResponse.done();
  }
}
