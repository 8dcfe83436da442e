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
    summary: 'Create a management key',
    description: 'You own it: it has your current role, in this account only. The key is shown once.',
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
    description: 'Any key of the account. Takes effect with the next request. Idempotent.',
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
    summary: 'Revoke the key of this request',
    description: 'Regardless of its owner’s role and its grant. Takes effect with the next request.',
  })
  @ApiOkResponse({ type: RevokedCredentialResponse })
  async revoke(@Admin() admin: AdminPrincipal): Promise<RevokedCredentialResponse> {
    await this.keys.revoke(admin, admin.credentialId);
    return RevokedCredentialResponse.done();
  }
}
