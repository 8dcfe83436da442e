import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import type { PersonPrincipal } from '../../identity/admin-principal.js';
import { OrganizationsRepository } from '../organizations.repository.js';
import { canBeAccepted, hashInvitationToken, invitationGone, requireInvitedEmail } from './invitation.rules.js';
import { InvitationsRepository, type InvitationToOrganization } from './invitations.repository.js';
import { Invitations, type JoinedOrganization } from './invitations.service.js';

/** Shows and accepts invitations by the token of their link. Accepting requires a signed-in person. */
@Injectable()
export class InvitationLinks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly repository: InvitationsRepository,
    private readonly organizations: OrganizationsRepository,
    private readonly invitations: Invitations,
    private readonly clock: Clock,
  ) {}

  /** @throws not_found for every token that cannot be accepted, without distinction. */
  async details(token: Secret): Promise<InvitationToOrganization> {
    const now = this.clock.now();
    const invitation = await this.repository.findByToken(hashInvitationToken(token), now);
    if (invitation === undefined || !canBeAccepted(invitation, now.getTime())) throw invitationGone();
    return invitation;
  }

  /**
   * Refuses an e-mail address that may not accept the invitation. The result does not depend on whether it is
   * registered.
   *
   * @throws not_found as `details`; forbidden the invitation is for another address.
   */
  async requireInvited(token: Secret, email: string): Promise<void> {
    requireInvitedEmail(await this.details(token), email);
  }

  /** @throws not_found, forbidden as `Invitations.accept`. */
  async accept(token: Secret, { identityId, sessionId }: PersonPrincipal): Promise<JoinedOrganization> {
    const { email } = (await this.organizations.findUser(identityId)) ?? {};
    if (!email) throw invitationGone();
    return this.dataSource.transaction((tx) => this.invitations.accept(tx, token, { identityId, sessionId, email }));
  }
}
