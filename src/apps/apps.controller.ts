import { Body, Controller, Delete, Get, HttpCode, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Admin, AdminAccess } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import type { Creation, Write } from '../idempotency/creation.js';
import { Creating, Idempotent } from '../idempotency/idempotent.decorator.js';
import { AppListService } from './app-list.service.js';
import { AppViews } from './app-views.js';
import { AppsService } from './apps.service.js';
import { CreateAppService, type CreatedApp } from './create-app.service.js';
import { AppResponse, CreatedAppResponse, DeletedAppResponse } from './dto/app.response.js';
import { AppCheckResponse, AppDraftValidationResponse, AppValidationResponse } from './dto/app-check.response.js';
import { AppListResponse } from './dto/app-list.response.js';
import {
  CreateAppRequest,
  DeleteAppRequest,
  ListAppsRequest,
  ReplaceAppRequest,
  ValidateAppDraftRequest,
  ValidateAppRequest,
  ValidationQuery,
} from './dto/apps.request.js';

const TAG = 'Admin applications';
const AppParam = () => ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } });

@Controller('v1/admin')
export class AppsController {
  constructor(
    private readonly apps: AppsService,
    private readonly creation: CreateAppService,
    private readonly lists: AppListService,
    private readonly views: AppViews,
  ) {}

  @Get('apps')
  @AdminAccess('read')
  @Operation({
    id: 'listApps',
    tag: TAG,
    summary: 'List applications',
    description:
      'With their usage of one UTC month. All of them, or a page of `limit`: get the next one with `offset`, or by id with the last one as `after_id`.',
  })
  @Fails('invalid_request')
  @ApiOkResponse({ type: AppListResponse })
  async list(@Admin() admin: AdminPrincipal, @Query() query: ListAppsRequest): Promise<AppListResponse> {
    return AppListResponse.from(await this.lists.list(admin.organizationId, query.toFilter()));
  }

  @Post('apps')
  @AdminAccess('write')
  @Operation({
    id: 'createApp',
    tag: TAG,
    summary: 'Create an application',
    description:
      'The id is assigned. An application with authentication type `api_key` gets its first key, shown once.',
  })
  @Idempotent('app', 'handle_taken')
  @ApiCreatedResponse({ type: CreatedAppResponse })
  create(
    @Admin() admin: AdminPrincipal,
    @Creating() creation: Creation,
    @Body() body: CreateAppRequest,
  ): Promise<CreatedAppResponse> {
    return creation.run(
      (write: Write<CreatedApp>) => this.creation.create(admin, body, write),
      ({ app, key }) => ({
        body: CreatedAppResponse.created(this.views.of(app), key),
        ids: { appId: app.id, ...(key && { keyId: key.id }) },
      }),
    );
  }

  @Get('apps/:app')
  @AdminAppAccess('read')
  @Operation({ id: 'getApp', tag: TAG, summary: 'Read an application' })
  @AppParam()
  @Fails('app_not_found')
  @ApiOkResponse({ type: AppResponse })
  get(@OwnApp() app: AppRow): AppResponse {
    return AppResponse.from(this.views.of(app));
  }

  @Put('apps/:app')
  @AdminAppAccess('write')
  @Operation({
    id: 'updateApp',
    tag: TAG,
    summary: 'Replace an application',
    description: 'A full replace, guarded by the `revision` that was read. Never creates.',
  })
  @AppParam()
  @Fails('invalid_request', 'app_revision_required', 'app_revision_conflict', 'handle_taken', 'app_not_found')
  @ApiOkResponse({ type: AppResponse })
  async replace(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Body() body: ReplaceAppRequest,
  ): Promise<AppResponse> {
    return AppResponse.from(this.views.of(await this.apps.replace(admin, app, body)));
  }

  @Post('apps/:app/validate')
  @AdminAppAccess('read')
  @HttpCode(200)
  @Operation({
    id: 'validateApp',
    tag: TAG,
    summary: 'Check an application body without saving',
    description: 'Takes the body of a creation or of a replacement, and refuses what a replacement would refuse.',
  })
  @AppParam()
  @Fails('invalid_request', 'app_revision_conflict', 'handle_taken', 'app_not_found')
  @ApiOkResponse({ type: AppValidationResponse })
  async validate(
    @OwnApp() app: AppRow,
    @Query() { include }: ValidationQuery,
    @Body() body: ValidateAppRequest,
  ): Promise<AppValidationResponse> {
    return AppValidationResponse.from(app.id, await this.apps.validate(app, body), include !== undefined);
  }

  @Post('apps/validate')
  @AdminAccess('read')
  @HttpCode(200)
  @Operation({
    id: 'validateAppDraft',
    tag: TAG,
    summary: 'Check the body of a new application',
    description: 'Applies the checks of a creation, except for account limits. Saves nothing.',
  })
  @Fails('invalid_request', 'handle_taken')
  @ApiOkResponse({ type: AppDraftValidationResponse })
  async validateDraft(
    @Admin() admin: AdminPrincipal,
    @Query() { include }: ValidationQuery,
    @Body() body: ValidateAppDraftRequest,
  ): Promise<AppDraftValidationResponse> {
    const valid = await this.creation.validate(admin, body, body.assumed());
    return AppDraftValidationResponse.valid(valid, include !== undefined);
  }

  @Get('apps/:app/check')
  @AdminAppAccess('read')
  @Operation({
    id: 'checkApp',
    tag: TAG,
    summary: 'Check the stored application',
    description: 'Sends no inference. Refused when the stored configuration is no longer valid.',
  })
  @AppParam()
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: AppCheckResponse })
  async check(@OwnApp() app: AppRow): Promise<AppCheckResponse> {
    return AppCheckResponse.from(await this.apps.check(app));
  }

  @Delete('apps/:app')
  @AdminAppAccess('write')
  @Operation({
    id: 'deleteApp',
    tag: TAG,
    summary: 'Delete an application',
    description: 'Permanently, with its keys and users. Recorded usage stays.',
  })
  @AppParam()
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: DeletedAppResponse })
  async delete(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Query() query: DeleteAppRequest,
  ): Promise<DeletedAppResponse> {
    return DeletedAppResponse.from(app.id, await this.apps.delete(admin, app, query.confirm));
  }
}
