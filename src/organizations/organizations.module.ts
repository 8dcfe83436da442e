import { Module } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import { Invitations } from './invitations/invitations.service.js';
import { MembersRepository } from './members/members.repository.js';
import { NewOrganizations } from './new-organizations.service.js';

/**
 * Organizations, who belongs to them, and how people come to belong to them.
 *
 * Tables: organizations, memberships, invitations; `identity` reads the first two to prove who calls, and opens them.
 */
@Module({
  imports: [IdentityModule],
  providers: [Invitations, InvitationsRepository, MembersRepository, NewOrganizations],
  exports: [Invitations, NewOrganizations],
})
export class OrganizationsModule {}
