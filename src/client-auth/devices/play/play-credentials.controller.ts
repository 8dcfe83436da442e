import { Body, Controller, Delete, Get, Put } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Admin } from '../../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../../accounts/access/admin-principal.js';
import { AdminAppAccess, OwnApp } from '../../../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../../../app-directory/app.entity.js';
import { Fails, Operation } from '../../../common/http/openapi.decorators.js';
import { PutPlayCredentialsRequest } from './dto/play-credentials.request.js';
import { DeletedPlayCredentialsResponse, PlayCredentialsResponse } from './dto/play-credentials.response.js';
import { PlayCredentialsService } from './play-credentials.service.js';

const TAG = 'Admin operations';

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class PlayCredentialsController {
  constructor(private readonly credentials: PlayCredentialsService) {}

  @Get('apps/:app/play-integrity/credentials')
  @AdminAppAccess('read')
  @Operation({
    id: 'listPlayIntegrityCredentials',
    tag: TAG,
    summary: 'List the credentials that decode integrity tokens',
    description: 'At most one of each kind, with a hint; no secret is returned.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: PlayCredentialsResponse })
  async list(@OwnApp() app: AppRow): Promise<PlayCredentialsResponse> {
    return PlayCredentialsResponse.from(app.id, await this.credentials.list(app));
  }

  @Put('apps/:app/play-integrity/credentials')
  @AdminAppAccess('write')
  @Operation({
    id: 'putPlayIntegrityCredentials',
    tag: TAG,
    summary: 'Set or rotate the credentials that decode integrity tokens',
    description:
      'Sealed in the vault, never returned. Exactly one kind; it replaces the one of the same kind, and the next registration uses it. The vendor is not called.',
  })
  @Fails('invalid_request', 'app_not_found', 'provider_unavailable')
  @ApiOkResponse({ type: PlayCredentialsResponse })
  async put(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Body() body: PutPlayCredentialsRequest,
  ): Promise<PlayCredentialsResponse> {
    return PlayCredentialsResponse.from(app.id, await this.credentials.put(admin, app, body));
  }

  @Delete('apps/:app/play-integrity/credentials')
  @AdminAppAccess('write')
  @Operation({
    id: 'deletePlayIntegrityCredentials',
    tag: TAG,
    summary: 'Delete the credentials that decode integrity tokens',
    description:
      'Both kinds. Afterwards registrations with Play Integrity fail with 503; registered keys stay valid. Idempotent.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: DeletedPlayCredentialsResponse })
  async delete(@Admin() admin: AdminPrincipal, @OwnApp() app: AppRow): Promise<DeletedPlayCredentialsResponse> {
    await this.credentials.delete(admin, app);
    return DeletedPlayCredentialsResponse.from(app.id);
  }
}
