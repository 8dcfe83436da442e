import { Readable } from 'node:stream';
import { Controller, Get, HttpCode, Param, Post, Query, StreamableFile } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Admin } from '../accounts/access/admin-access.decorator.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { AdminAppAccess, OwnApp } from '../app-directory/admin-app-access.decorator.js';
import type { AppRow } from '../app-directory/app.entity.js';
import { Fails, Operation } from '../common/http/openapi.decorators.js';
import { SingleUserResponse, UserBlockResponse, UserListResponse } from './dto/user.response.js';
import { GetNamedUserRequest, GetUserRequest, ListUsersRequest, NamedUserRequest } from './dto/users.request.js';
import { ManagedUsers } from './managed-users.service.js';
import { UserExport } from './user-export.service.js';

const TAG = 'Admin operations';
/** `user` and not `users`, because every segment below `users` is a user id, which may be `block` (ADR 0011). */
const NAMED = 'apps/:app/user';
const AS_NAMED = 'For ids that URL libraries change in a path, such as those with a slash.';
const EXPORT = 'One line of JSON for each row, table by table: `{"table", "row"}`, with the columns of docs/schema.md.';
const LINES = {
  content: {
    'application/x-ndjson': {
      schema: { type: 'string', example: '{"table":"app_users","row":{"id":"customer-4711"}}\n' },
    },
  },
} as const;
const UserParam = () =>
  ApiParam({ name: 'user', description: 'Id of the user, percent-encoded.', schema: { type: 'string' } });

@Controller('v1/admin')
@ApiParam({ name: 'app', description: 'Id of the application.', schema: { type: 'string' } })
export class UsersController {
  constructor(
    private readonly users: ManagedUsers,
    private readonly exports: UserExport,
  ) {}

  @Get('apps/:app/users')
  @AdminAppAccess('read')
  @Operation({
    id: 'listAppUsers',
    tag: TAG,
    summary: 'List the users of an application',
    description:
      'With their usage of one UTC month. Pass `next_cursor` as `cursor` to get the next page: users who do not ' +
      'change meanwhile appear exactly once.',
  })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UserListResponse })
  async list(@OwnApp() app: AppRow, @Query() query: ListUsersRequest): Promise<UserListResponse> {
    return UserListResponse.from(await this.users.page(app, query.toQuestion()));
  }

  @Get('apps/:app/users/:user')
  @AdminAppAccess('read')
  @Operation({ id: 'getAppUser', tag: TAG, summary: 'Read a user' })
  @UserParam()
  @Fails('invalid_request', 'app_not_found', 'not_found')
  @ApiOkResponse({ type: SingleUserResponse })
  async get(
    @OwnApp() app: AppRow,
    @Param('user') userId: string,
    @Query() query: GetUserRequest,
  ): Promise<SingleUserResponse> {
    return SingleUserResponse.from(await this.users.get(app, userId, query.month));
  }

  @Post('apps/:app/users/:user/block')
  @AdminAppAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'blockAppUser',
    tag: TAG,
    summary: 'Block a user',
    description:
      'Any id can be blocked, even before its first call. Exchanges are refused immediately; valid tokens stop ' +
      'working within ten seconds. Idempotent. A user identified by an install escapes a block by reinstalling.',
  })
  @UserParam()
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UserBlockResponse })
  async block(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Param('user') userId: string,
  ): Promise<UserBlockResponse> {
    await this.users.block(admin, app, userId);
    return UserBlockResponse.from(app.id, userId, 'blocked');
  }

  @Post('apps/:app/users/:user/unblock')
  @AdminAppAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'unblockAppUser',
    tag: TAG,
    summary: 'Unblock a user',
    description: 'Idempotent.',
  })
  @UserParam()
  @Fails('invalid_request', 'app_not_found', 'not_found')
  @ApiOkResponse({ type: UserBlockResponse })
  async unblock(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Param('user') userId: string,
  ): Promise<UserBlockResponse> {
    await this.users.unblock(admin, app, userId);
    return UserBlockResponse.from(app.id, userId, 'active');
  }

  @Get('apps/:app/users/:user/export')
  @AdminAppAccess('read')
  @Operation({ id: 'exportAppUser', tag: TAG, summary: 'Export every row about a user', description: EXPORT })
  @UserParam()
  @Fails('app_not_found', 'not_found')
  @ApiOkResponse(LINES)
  async export(@OwnApp() app: AppRow, @Param('user') userId: string): Promise<StreamableFile> {
    const lines = await this.exports.linesOf(app, userId);
    return new StreamableFile(Readable.from(lines), { type: 'application/x-ndjson; charset=utf-8' });
  }

  @Get(NAMED)
  @AdminAppAccess('read')
  @Operation({ id: 'getNamedAppUser', tag: TAG, summary: 'Read a user named in the query', description: AS_NAMED })
  @Fails('invalid_request', 'app_not_found', 'not_found')
  @ApiOkResponse({ type: SingleUserResponse })
  getNamed(@OwnApp() app: AppRow, @Query() { user_id, month }: GetNamedUserRequest): Promise<SingleUserResponse> {
    return this.get(app, user_id, { month });
  }

  @Get(`${NAMED}/export`)
  @AdminAppAccess('read')
  @Operation({
    id: 'exportNamedAppUser',
    tag: TAG,
    summary: 'Export every row about a user named in the query',
    description: AS_NAMED,
  })
  @Fails('invalid_request', 'app_not_found', 'not_found')
  @ApiOkResponse(LINES)
  exportNamed(@OwnApp() app: AppRow, @Query() { user_id }: NamedUserRequest): Promise<StreamableFile> {
    return this.export(app, user_id);
  }

  @Post(`${NAMED}/block`)
  @AdminAppAccess('write')
  @HttpCode(200)
  @Operation({ id: 'blockNamedAppUser', tag: TAG, summary: 'Block a user named in the query', description: AS_NAMED })
  @Fails('invalid_request', 'app_not_found')
  @ApiOkResponse({ type: UserBlockResponse })
  blockNamed(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Query() { user_id }: NamedUserRequest,
  ): Promise<UserBlockResponse> {
    return this.block(admin, app, user_id);
  }

  @Post(`${NAMED}/unblock`)
  @AdminAppAccess('write')
  @HttpCode(200)
  @Operation({
    id: 'unblockNamedAppUser',
    tag: TAG,
    summary: 'Unblock a user named in the query',
    description: AS_NAMED,
  })
  @Fails('invalid_request', 'app_not_found', 'not_found')
  @ApiOkResponse({ type: UserBlockResponse })
  unblockNamed(
    @Admin() admin: AdminPrincipal,
    @OwnApp() app: AppRow,
    @Query() { user_id }: NamedUserRequest,
  ): Promise<UserBlockResponse> {
    return this.unblock(admin, app, user_id);
  }
}
