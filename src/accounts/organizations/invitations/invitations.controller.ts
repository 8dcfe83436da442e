import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import { Fails, Operation } from '../../../common/http/openapi.decorators.js';
import { Secret } from '../../../common/log/secret.js';
import { AddressLimited } from '../../../platform/address-limits/address-limit.guard.js';
import { Admin, AdminAccess, BrowserAccess, Person, PersonAccess } from '../../access/admin-access.decorator.js';
import type { AdminPrincipal, PersonPrincipal } from '../../access/admin-principal.js';
import {
  InvitationDetailsResponse,
  InvitationListResponse,
  InvitationResponse,
  JoinedOrganizationResponse,
  WrittenInvitationResponse,
} from '../dto/invitation.response.js';
import { CreateInvitationRequest, InvitationTokenRequest } from '../dto/organizations.request.js';
import { Invitations } from './invitations.service.js';

const TAG = 'Admin organizations';

@Controller('v1/admin')
export class InvitationsController {
  constructor(private readonly invitations: Invitations) {}

  @Post('invitations')
  @AdminAccess('write', { credential: 'session' })
  @Operation({
    id: 'createInvitation',
    tag: TAG,
    summary: 'Invite a person into the organization',
    description: 'Returns a link that works once, for seven days. With an address and `SMTP_URL` it is mailed too.',
  })
  @Fails('invalid_request', 'conflict')
  @ApiCreatedResponse({ type: WrittenInvitationResponse })
  async create(
    @Admin() admin: AdminPrincipal,
    @Body() body: CreateInvitationRequest,
  ): Promise<WrittenInvitationResponse> {
    const { invitation, token, isMailed } = await this.invitations.create(admin, body);
    return WrittenInvitationResponse.from(invitation, { url: this.invitations.linkOf(token), isMailed });
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
    description: 'Its link stops working at once. Idempotent.',
  })
  @ApiParam({ name: 'id', description: 'Id of the invitation.', schema: { type: 'string' } })
  @Fails('invalid_request', 'not_found', 'conflict')
  @ApiOkResponse({ type: InvitationResponse })
  async revoke(@Admin() admin: AdminPrincipal, @Param('id') id: string): Promise<InvitationResponse> {
    return InvitationResponse.from(await this.invitations.revoke(admin, id));
  }
}

@Controller('v1/console/invitations')
export class InvitationLinksController {
  constructor(private readonly invitations: Invitations) {}

  @Post('details')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'getInvitationDetails',
    tag: TAG,
    summary: 'Read what an invitation offers',
    description: 'Requires the link. A used, revoked or expired one is not found.',
  })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: InvitationDetailsResponse })
  @AddressLimited('invitation')
  async details(@Body() { token }: InvitationTokenRequest): Promise<InvitationDetailsResponse> {
    return InvitationDetailsResponse.from(await this.invitations.details(new Secret(token)));
  }

  @Post('accept')
  @PersonAccess({ firstParty: true, exactOrigin: true })
  @HttpCode(200)
  @Operation({
    id: 'acceptInvitation',
    tag: TAG,
    summary: 'Join the organization you are invited to',
    description: 'The link works once; the person who used it gets the same answer again.',
  })
  @Fails('invalid_request', 'not_found', 'forbidden')
  @ApiOkResponse({ type: JoinedOrganizationResponse })
  async accept(
    @Person() person: PersonPrincipal,
    @Body() { token }: InvitationTokenRequest,
  ): Promise<JoinedOrganizationResponse> {
    return JoinedOrganizationResponse.from(await this.invitations.acceptNow(new Secret(token), person));
  }
}
