import { Body, Controller, Delete, Get, Param, Put } from '@nestjs/common';
import { ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Fails, Operation } from '../../../common/http/openapi.decorators.js';
import { Admin, AdminAccess } from '../../access/admin-access.decorator.js';
import type { AdminPrincipal } from '../../access/admin-principal.js';
import { MemberRoleRequest } from '../dto/organizations.request.js';
import { MemberListResponse, MemberResponse, RemovedMemberResponse } from '../dto/organizations.response.js';
import { Members } from './members.service.js';

const TAG = 'Admin organizations';
const USER = { name: 'user', description: 'Id of the member.', schema: { type: 'string' as const } };

@Controller('v1/admin')
export class MembersController {
  constructor(private readonly members: Members) {}

  @Get('members')
  @AdminAccess('read', { role: 'admin', credential: 'session' })
  @Operation({ id: 'listMembers', tag: TAG, summary: 'List the members of the organization' })
  @ApiOkResponse({ type: MemberListResponse })
  async list(@Admin() admin: AdminPrincipal): Promise<MemberListResponse> {
    return MemberListResponse.from(await this.members.list(admin));
  }

  @Put('members/:user')
  @AdminAccess('write', { credential: 'session' })
  @Operation({
    id: 'updateMember',
    tag: TAG,
    summary: 'Give a member another role',
    description:
      'Takes effect with their next request. Only owners add or demote owners, and one owner always remains.',
  })
  @ApiParam(USER)
  @Fails('invalid_request', 'not_found', 'last_owner')
  @ApiOkResponse({ type: MemberResponse })
  async setRole(
    @Admin() admin: AdminPrincipal,
    @Param('user') userId: string,
    @Body() { role }: MemberRoleRequest,
  ): Promise<MemberResponse> {
    return MemberResponse.from(await this.members.setRole(admin, userId, role));
  }

  @Delete('members/:user')
  @AdminAccess('read', { credential: 'session' })
  @Operation({
    id: 'removeMember',
    tag: TAG,
    summary: 'Remove a member, or leave',
    description:
      'Permanently revokes their management keys in this organization. Anyone may leave; admins remove others, ' +
      'owners remove owners. One owner always remains.',
  })
  @ApiParam(USER)
  @Fails('invalid_request', 'not_found', 'last_owner')
  @ApiOkResponse({ type: RemovedMemberResponse })
  async remove(@Admin() admin: AdminPrincipal, @Param('user') userId: string): Promise<RemovedMemberResponse> {
    await this.members.remove(admin, userId);
    return RemovedMemberResponse.done();
  }
}
