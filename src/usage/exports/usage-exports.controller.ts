import { Controller, Get, Query, Req, Res, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Admin, AdminAccess } from '../../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../accounts/access/admin-principal.js';
import { AdminAppAccess, OwnApp } from '../../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../../app-directory/app.entity.js';
import { headerReference } from '../../common/http/answer-headers.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import type { UsageScope } from '../recording/usage-sums.repository.js';
import { UsageExportManifestRequest, UsageExportRequest } from './dto/usage-export.request.js';
import { UsageExportManifestResponse } from './dto/usage-export.response.js';
import { UsageExports } from './usage-exports.service.js';

const TAG = 'Admin operations';
const AppParam = () => ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } });
const PAGE = {
  headers: { 'X-Next-Cursor': headerReference('NextCursor') },
  content: {
    'text/csv': { schema: { type: 'string', example: '"id","created_at"\r\n"1","2026-01-31T12:00:00.000Z"\r\n' } },
    'application/x-ndjson': {
      schema: { type: 'string', example: '{"id":1,"created_at":"2026-01-31T12:00:00.000Z"}\n' },
    },
  },
} as const;
const PAGES =
  'Newest first, in pages of about 10 000: pass `X-Next-Cursor` as `cursor` until an answer has none. The concatenated ' +
  'pages are the export. It ends at `settled_until` of the manifest, as of its first page, if `until` is later.';
const MANIFEST = 'Rows, sum and SHA-256 of the export with the same parameters. Reads the whole export.';

@Controller('v1/admin')
export class UsageExportsController {
  constructor(private readonly exports: UsageExports) {}

  @Get('usage/export')
  @AdminAccess('read')
  @Operation({ id: 'exportUsage', tag: TAG, summary: 'Export the usage events of the account', description: PAGES })
  @Fails('invalid_request')
  @ApiOkResponse(PAGE)
  exportAccount(
    @Admin() { organizationId }: AdminPrincipal,
    @Query() query: UsageExportRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    return this.page({ organizationId, id: null }, query, reply);
  }

  @Get('usage/export/manifest')
  @AdminAccess('read')
  @Operation({ id: 'getUsageExportManifest', tag: TAG, summary: 'Describe an export of usage', description: MANIFEST })
  @Fails('invalid_request')
  @ApiOkResponse({ type: UsageExportManifestResponse })
  describeAccount(
    @Admin() { organizationId }: AdminPrincipal,
    @Query() query: UsageExportManifestRequest,
    @Req() request: FastifyRequest,
  ): Promise<UsageExportManifestResponse> {
    return this.manifest({ organizationId, id: null }, query, request);
  }

  @Get('apps/:app/usage/export')
  @AdminAppAccess('read')
  @Operation({
    id: 'exportAppUsage',
    tag: TAG,
    summary: 'Export the usage events of an application',
    description: PAGES,
  })
  @AppParam()
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse(PAGE)
  exportApp(
    @OwnApp() app: AppRow,
    @Query() query: UsageExportRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<StreamableFile> {
    return this.page(app, query, reply);
  }

  @Get('apps/:app/usage/export/manifest')
  @AdminAppAccess('read')
  @Operation({
    id: 'getAppUsageExportManifest',
    tag: TAG,
    summary: 'Describe an export of the usage of an application',
    description: MANIFEST,
  })
  @AppParam()
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UsageExportManifestResponse })
  describeApp(
    @OwnApp() app: AppRow,
    @Query() query: UsageExportManifestRequest,
    @Req() request: FastifyRequest,
  ): Promise<UsageExportManifestResponse> {
    return this.manifest(app, query, request);
  }

  private async page(scope: UsageScope, query: UsageExportRequest, reply: FastifyReply): Promise<StreamableFile> {
    const { type, bytes, cursor } = await this.exports.pageOf(scope, query.toAsked(), query.cursor);
    if (cursor !== null) void reply.header('X-Next-Cursor', cursor);
    return new StreamableFile(bytes, { type });
  }

  private async manifest(
    scope: UsageScope,
    query: UsageExportManifestRequest,
    { raw }: FastifyRequest,
  ): Promise<UsageExportManifestResponse> {
    const manifest = await this.exports.manifestOf(scope, query.toAsked(), () => !raw.socket.destroyed);
    return UsageExportManifestResponse.from(manifest);
  }
}
