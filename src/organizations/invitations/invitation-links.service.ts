import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import type { PersonPrincipal } from '../../identity/admin-principal.js';
import { OrganizationsRepository } from '../organizations.repository.js';
import { canBeAccepted, hashInvitationToken, invitationGone, requireInvitedEmail } from './invitation.rules.js';
import { InvitationsRepository, type InvitationToOrganization } from './invitations.repository.js';
import { Invitations, type JoinedOrganization } from './invitations.service.js';

/** What people do who have followed the link of an invitation: look at it, and accept it when they are signed in. */
@Injectable()
export class InvitationLinks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: InvitationsRepository,
    private readonly organizations: OrganizationsRepository,
    private readonly invitations: Invitations,
    private readonly clock: Clock,
  ) {}

  /** @throws not_found for every token that nobody can accept, alike. */
  async details(token: Secret): Promise<InvitationToOrganization> {
    const now = this.clock.now();
    const invitation = await this.repository.findByToken(hashInvitationToken(token), now);
    if (invitation === undefined || !canBeAccepted(invitation, now.getTime())) throw invitationGone();
    return invitation;
  }

  /**
   * Refuses an e-mail address that could not accept an invitation. Says nothing of whether somebody has it.
   *
   * @throws not_found as `details`; forbidden the invitation is for another one.
   */
  async requireInvited(token: Secret, email: string): Promise<void> {
    requireInvitedEmail(await this.details(token), email);
  }

  /** @throws not_found, forbidden as `Invitations.accept` says. */
  async accept(token: Secret, { identityId, sessionId }: PersonPrincipal): Promise<JoinedOrganization> {
    const { email } = (await this.organizations.findUser(identityId)) ?? {};
    if (!email) throw invitationGone();
    return this.dataSource.transaction((tx) => this.invitations.accept(tx, token, { identityId, sessionId, email }));
  }
}
