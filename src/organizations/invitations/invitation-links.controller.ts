import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiOkResponse } from '@nestjs/swagger';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Secret } from '../../common/log/secret.js';
import { BrowserAccess, Person, PersonAccess } from '../../identity/admin-access.decorator.js';
import type { PersonPrincipal } from '../../identity/admin-principal.js';
import { AddressLimited } from '../../rate-limits/address-limited.decorator.js';
import { InvitationTokenRequest } from './dto/invitation.request.js';
import { InvitationDetailsResponse, JoinedOrganizationResponse } from './dto/invitation.response.js';
import { InvitationLinks } from './invitation-links.service.js';

const TAG = 'Admin organizations';

@Controller('v1/console/invitations')
export class InvitationLinksController {
  constructor(private readonly links: InvitationLinks) {}

  @Post('details')
  @BrowserAccess()
  @HttpCode(200)
  @Operation({
    id: 'getInvitationDetails',
    tag: TAG,
    summary: 'Read what an invitation offers',
    description: 'For whoever has its link. One that was used or revoked, or whose time is over, is not found.',
  })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: InvitationDetailsResponse })
  @AddressLimited('invitation')
  async details(@Body() { token }: InvitationTokenRequest): Promise<InvitationDetailsResponse> {
    return InvitationDetailsResponse.from(await this.links.details(new Secret(token)));
  }

  @Post('accept')
  @PersonAccess({ firstParty: true, exactOrigin: true })
  @HttpCode(200)
  @Operation({
    id: 'acceptInvitation',
    tag: TAG,
    summary: 'Join the organization you are invited to',
    description: 'The link works once; the person who has used it is told the same again.',
  })
  @Fails('invalid_request', 'not_found', 'forbidden')
  @ApiOkResponse({ type: JoinedOrganizationResponse })
  async accept(
    @Person() person: PersonPrincipal,
    @Body() { token }: InvitationTokenRequest,
  ): Promise<JoinedOrganizationResponse> {
    return JoinedOrganizationResponse.from(await this.links.accept(new Secret(token), person));
  }
}
