import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { RateLimitsModule } from '../rate-limits/rate-limits.module.js';
import { AdminSessions } from './admin-sessions.service.js';
import { InvitationLinksController } from './invitations/invitation-links.controller.js';
import { InvitationLinks } from './invitations/invitation-links.service.js';
import { InvitationsController } from './invitations/invitations.controller.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import { Invitations } from './invitations/invitations.service.js';
import { ManagedInvitations } from './invitations/managed-invitations.service.js';
import { MembersController } from './members/members.controller.js';
import { MembersRepository } from './members/members.repository.js';
import { Members } from './members/members.service.js';
import { NewOrganizations } from './new-organizations.service.js';
import { OrganizationsController } from './organizations.controller.js';
import { OrganizationsRepository } from './organizations.repository.js';
import { Organizations } from './organizations.service.js';
import { BootstrapClaims } from './unclaimed/bootstrap-claims.service.js';
import { UnclaimedAccounts } from './unclaimed/unclaimed-accounts.service.js';

/**
 * Organizations and their members. A person becomes a member by registration, by invitation, or by claiming an account
 * that a service identity opened; the account of the bootstrap key is claimed with that key.
 *
 * Tables: organizations, memberships, invitations; `identity` reads the first two for authentication, and creates
 * accounts in them. Routes: `/v1/admin/session`, `/v1/admin/organizations*`, `/v1/admin/members*`,
 * `/v1/admin/invitations*`, `/v1/console/invitations/*`. Codes: not_a_member, last_owner, account_exists,
 * account_expired, conflict, not_found, forbidden.
 */
@Module({
  imports: [IdentityModule, RateLimitsModule],
  controllers: [OrganizationsController, MembersController, InvitationsController, InvitationLinksController],
  providers: [
    AdminSessions,
    BootstrapClaims,
    InvitationLinks,
    Invitations,
    InvitationsRepository,
    ManagedInvitations,
    Members,
    MembersRepository,
    NewOrganizations,
    Organizations,
    OrganizationsRepository,
    UnclaimedAccounts,
  ],
  exports: [BootstrapClaims, InvitationLinks, Invitations, NewOrganizations, UnclaimedAccounts],
})
export class OrganizationsModule {}
