import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Admin } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import type { Creation, Write } from '../idempotency/creation.js';
import { Creating, Idempotent } from '../idempotency/idempotent.decorator.js';
import type { IssuedAppKey } from './app-key.entity.js';
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
    description:
      'Only for applications with authentication type `api_key`. The key is shown once. It does not expire without `expires_at`.',
  })
  @Idempotent('app_key', 'app_not_found')
  @ApiCreatedResponse({ type: IssuedAppKeyResponse })
  create(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Creating() creation: Creation,
    @Body() body: CreateAppKeyRequest,
  ): Promise<IssuedAppKeyResponse> {
    return creation.run(
      (write: Write<IssuedAppKey>) => this.keys.create(admin, app, body, write),
      (issued) => ({ body: IssuedAppKeyResponse.from(issued), ids: { appId: app.id, keyId: issued.id } }),
    );
  }

  @Post('apps/:app/keys/:key/revoke')
  @AdminAppAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'revokeAppKey',
    tag: TAG,
    summary: 'Revoke a key',
    description: 'Takes effect everywhere within a minute, normally at once. Idempotent.',
  })
  @ApiParam({ name: 'key', description: 'Id of the key.', schema: { type: 'string' } })
  @Fails('invalid_request', 'app_not_found', 'not_found')
  @ApiOkResponse({ type: RevokedAppKeyResponse })
  async revoke(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Param('key') keyId: string,
  ): Promise<RevokedAppKeyResponse> {
    await this.keys.revoke(admin, app, keyId);
    return RevokedAppKeyResponse.from(app.id, keyId);
  }
}
