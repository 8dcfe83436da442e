import { Body, Controller, Get, HttpCode, Param, Patch, Post, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { setsCookie } from '../../common/http/answer-headers.js';
import { Fails, Operation } from '../../common/http/openapi.decorators.js';
import { Secret } from '../../common/log/secret.js';
import { AddressLimited } from '../../platform/address-limits/address-limit.guard.js';
import {
  Admin,
  AdminAccess,
  Identity,
  IdentityAccess,
  Person,
  PersonAccess,
} from '../access/admin-access.decorator.js';
import type { AdminPrincipal, PersonPrincipal } from '../access/admin-principal.js';
import { ConsoleCookies } from '../sessions/console-cookies.js';
import { Sessions } from '../sessions/sessions.service.js';
import {
  ClaimOrganizationRequest,
  OrganizationNameRequest,
  SelectOrganizationRequest,
} from './dto/organizations.request.js';
import { AdminSessionResponse, OrganizationListResponse, OrganizationResponse } from './dto/organizations.response.js';
import { Organizations } from './organizations.service.js';
import { UnclaimedOrganizations } from './unclaimed-organizations.service.js';

const TAG = 'Admin organizations';

@Controller('v1/admin')
export class OrganizationsController {
  constructor(
    private readonly organizations: Organizations,
    private readonly unclaimed: UnclaimedOrganizations,
    private readonly sessions: Sessions,
    private readonly cookies: ConsoleCookies,
  ) {}

  @Get('session')
  @IdentityAccess()
  @Operation({
    id: 'getAdminSession',
    tag: TAG,
    summary: 'Read your identity and current organization',
    description: 'Also for a signed-in person who belongs to no organization: then `organization` and `role` are null.',
  })
  @Fails('not_a_member')
  @ApiOkResponse({ type: AdminSessionResponse })
  async session(@Identity() identity: AdminPrincipal | PersonPrincipal): Promise<AdminSessionResponse> {
    return AdminSessionResponse.from(await this.organizations.describe(identity));
  }

  @Get('organizations')
  @PersonAccess()
  @Operation({ id: 'listOrganizations', tag: TAG, summary: 'List the organizations you belong to' })
  @ApiOkResponse({ type: OrganizationListResponse })
  async list(@Person() person: PersonPrincipal): Promise<OrganizationListResponse> {
    return OrganizationListResponse.from(await this.organizations.list(person));
  }

  @Post('organizations/select')
  @PersonAccess()
  @HttpCode(200)
  @Operation({
    id: 'selectOrganization',
    tag: TAG,
    summary: 'Choose your current organization',
    description: 'The answer sets a cookie with the choice; keys are bound to one organization.',
  })
  @Fails('invalid_request', 'not_a_member', 'account_expired')
  @ApiOkResponse({ type: AdminSessionResponse, headers: setsCookie('OrganizationCookie') })
  async select(
    @Person() person: PersonPrincipal,
    @Body() { organizationId }: SelectOrganizationRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AdminSessionResponse> {
    return this.selectOrganization(person, organizationId, reply);
  }

  @Post('organizations/claim')
  @PersonAccess()
  @HttpCode(200)
  @Operation({
    id: 'claimOrganization',
    tag: TAG,
    summary: 'Claim the account of the bootstrap key',
    description:
      'For the first person who presents `BOOTSTRAP_MANAGEMENT_KEY`. The key stays valid; the answer sets the cookie that makes the account your current one.',
  })
  @Fails('invalid_request', 'forbidden', 'conflict', 'account_expired')
  @ApiOkResponse({ type: AdminSessionResponse, headers: setsCookie('OrganizationCookie') })
  @AddressLimited('claim')
  async claim(
    @Person() person: PersonPrincipal,
    @Body() { bootstrapKey }: ClaimOrganizationRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AdminSessionResponse> {
    const { organizationId } = await this.unclaimed.claimNow(new Secret(bootstrapKey), person);
    return this.selectOrganization(person, organizationId, reply);
  }

  @Post('organizations')
  @PersonAccess()
  @Operation({
    id: 'createOrganization',
    tag: TAG,
    summary: 'Create another organization',
    description: 'You own it. Choose it to act in it.',
  })
  @Fails('invalid_request', 'conflict')
  @ApiCreatedResponse({ type: OrganizationResponse })
  async create(
    @Person() person: PersonPrincipal,
    @Body() { name }: OrganizationNameRequest,
  ): Promise<OrganizationResponse> {
    return OrganizationResponse.from(await this.organizations.create(person, name));
  }

  @Patch('organizations/:id')
  @AdminAccess('write')
  @Operation({ id: 'renameOrganization', tag: TAG, summary: 'Rename your current organization' })
  @ApiParam({ name: 'id', description: 'Your current one; any other is not found.', schema: { type: 'string' } })
  @Fails('invalid_request', 'not_found')
  @ApiOkResponse({ type: OrganizationResponse })
  async rename(
    @Admin() admin: AdminPrincipal,
    @Param('id') id: string,
    @Body() { name }: OrganizationNameRequest,
  ): Promise<OrganizationResponse> {
    return OrganizationResponse.from(await this.organizations.rename(admin, id, name));
  }

  private async selectOrganization(
    person: PersonPrincipal,
    organizationId: string,
    reply: FastifyReply,
  ): Promise<AdminSessionResponse> {
    const session = await this.organizations.select(person, organizationId);
    this.cookies.setOrganization(reply, this.sessions.organizationCookie(organizationId));
    return AdminSessionResponse.from(session);
  }
}
