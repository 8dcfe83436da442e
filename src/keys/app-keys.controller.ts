import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app-row.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { AppKeysService } from './app-keys.service.js';
import { AppKeyListResponse, IssuedAppKeyResponse, RevokedAppKeyResponse } from './dto/app-key.response.js';
import { CreateAppKeyRequest } from './dto/create-app-key.request.js';

const TAG = 'Admin operations';

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class AppKeysController {
  constructor(private readonly keys: AppKeysService) {}

  @Get('apps/:app/keys')
  @AdminAppAccess('read')
  @Operation({ id: 'listAppKeys', tag: TAG, summary: 'List the keys of an application' })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: AppKeyListResponse })
  async list(@OwnApp() app: AppRow): Promise<AppKeyListResponse> {
    return AppKeyListResponse.from(app.id, await this.keys.list(app));
  }

  @Post('apps/:app/keys')
  @AdminAppAccess('write')
  @Operation({
    id: 'createAppKey',
    tag: TAG,
    summary: 'Issue a key',
    description: 'Only for applications with authentication type `api_key`. The key is shown once.',
  })
  @Fails(
    'invalid_request',
    'app_not_found',
    'billing_plan_limit_reached',
    'billing_payment_required',
    'billing_unavailable',
  )
  @ApiCreatedResponse({ type: IssuedAppKeyResponse })
  async create(@OwnApp() app: AppRow, @Body() body: CreateAppKeyRequest): Promise<IssuedAppKeyResponse> {
    return IssuedAppKeyResponse.from(await this.keys.create(app, body.name));
  }

  @Post('apps/:app/keys/:key/revoke')
  @AdminAppAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'revokeAppKey',
    tag: TAG,
    summary: 'Revoke a key',
    description: 'Takes effect everywhere within a minute, normally at once. Repeating it answers the same.',
  })
  @ApiParam({ name: 'key', description: 'Id of the key.', schema: { type: 'string' } })
  @Fails('invalid_request', 'app_not_found', 'not_found')
  @ApiOkResponse({ type: RevokedAppKeyResponse })
  async revoke(@OwnApp() app: AppRow, @Param('key') keyId: string): Promise<RevokedAppKeyResponse> {
    await this.keys.revoke(app, keyId);
    return RevokedAppKeyResponse.from(app.id, keyId);
  }
}
