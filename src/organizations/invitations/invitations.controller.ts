import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Admin, AdminAccess } from '../../identity/admin-access.decorator.js';
import type { AdminPrincipal } from '../../identity/admin-principal.js';
import { ConsoleOrigin } from '../../identity/first-party/console-origin.js';
import { CreateInvitationRequest } from './dto/invitation.request.js';
import { InvitationListResponse, InvitationResponse, WrittenInvitationResponse } from './dto/invitation.response.js';
import { ManagedInvitations } from './managed-invitations.service.js';

const TAG = 'Admin organizations';

@Controller('v1/admin')
export class InvitationsController {
  constructor(
    private readonly invitations: ManagedInvitations,
    private readonly origin: ConsoleOrigin,
  ) {}

  @Post('invitations')
  @AdminAccess('write', { credential: 'session' })
  @Operation({
    id: 'createInvitation',
    tag: TAG,
    summary: 'Invite a person into the organization',
    description: 'Answers a link that works once, for seven days. No mail is sent: pass it on yourself.',
  })
  @Fails('invalid_request', 'conflict')
  @ApiCreatedResponse({ type: WrittenInvitationResponse })
  async create(
    @Admin() admin: AdminPrincipal,
    @Body() body: CreateInvitationRequest,
  ): Promise<WrittenInvitationResponse> {
    const { invitation, token } = await this.invitations.create(admin, body);
    return WrittenInvitationResponse.from(invitation, `${this.origin.url}/invite#${token.reveal()}`);
  }

  @Get('invitations')
  @AdminAccess('read', { role: 'admin', credential: 'session' })
  @Operation({ id: 'listInvitations', tag: TAG, summary: 'List the invitations into the organization' })
  @ApiOkResponse({ type: InvitationListResponse })
  async list(@Admin() admin: AdminPrincipal): Promise<InvitationListResponse> {
    return InvitationListResponse.from(await this.invitations.list(admin));
  }

  @Post('invitations/:id/revoke')
  @AdminAccess('write', { credential: 'session' })
  @HttpCode(200)
  @Operation({
    id: 'revokeInvitation',
    tag: TAG,
    summary: 'Revoke an invitation',
    description: 'Its link stops working at once. Repeating it answers the same.',
  })
  @ApiParam({ name: 'id', description: 'Id of the invitation.', schema: { type: 'string' } })
  @Fails('invalid_request', 'not_found', 'conflict')
  @ApiOkResponse({ type: InvitationResponse })
  async revoke(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<InvitationResponse> {
    return InvitationResponse.from(await this.invitations.revoke(admin, id));
  }
}
