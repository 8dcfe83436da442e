import { Module } from '@nestjs/common';
import { AddressLimitsModule } from '../../platform/address-limits/address-limits.module.js';
import { AccessModule } from '../access/access.module.js';
import { InvitationLinksController, InvitationsController } from './invitations/invitations.controller.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import { Invitations } from './invitations/invitations.service.js';
import { MembersController } from './members/members.controller.js';
import { Members } from './members/members.service.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsRepository } from './organizations.repository.js';
import { Organizations } from './organizations.service.js';
import { UnclaimedOrganizations } from './unclaimed-organizations.service.js';

/**
 * Organizations and their members. A person becomes a member by sign-up, by invitation, or by claiming an organization
 * that a service identity created; the one of the bootstrap key is claimed with that key.
 *
 * Tables: organizations, memberships, invitations; `accounts/access` reads the first two for authentication, and
 * creates organizations in them. Routes: `/v1/admin/session`, `/v1/admin/organizations*`, `/v1/admin/members*`,
 * `/v1/admin/invitations*`, `/v1/console/invitations/*`. Codes: not_a_member, last_owner, account_exists,
 * account_expired, conflict, not_found, forbidden.
 */
@Module({
  imports: [AccessModule, AddressLimitsModule],
  controllers: [OrganizationsController, MembersController, InvitationsController, InvitationLinksController],
  providers: [
    Invitations,
    InvitationsRepository,
    Members,
    Organizations,
    OrganizationsRepository,
    UnclaimedOrganizations,
  ],
  exports: [Invitations, Organizations, UnclaimedOrganizations],
})
export class OrganizationsModule {}
