import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import type { Role } from '../../identity/admin-principal.js';
import { type ActingPerson, personActor } from '../../identity/audit/audit-actor.rules.js';
import { type AuditEntry, AuditTrail } from '../../identity/audit/audit-trail.js';
import { MembersRepository } from '../members/members.repository.js';
import { type Acceptance, acceptanceOf, hashInvitationToken, invitationGone } from './invitation.rules.js';
import { InvitationsRepository } from './invitations.repository.js';

/** A signed-in or newly registered person that accepts an invitation. */
export interface AcceptingPerson extends ActingPerson {
  readonly email: string;
}

/** The organization of an accepted invitation. */
export interface JoinedOrganization {
  readonly organizationId: string;
  /** The person's role in it after the acceptance. */
  readonly role: Role;
}

/** Makes the holder of an invitation token a member. */
@Injectable()
export class Invitations {
  constructor(
    private readonly repository: InvitationsRepository,
    private readonly members: MembersRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a person a member of the inviting organization. Of several people with one token, the first succeeds. A
   * repeated call by the same person returns the same result.
   *
   * @throws not_found the token is unknown or can no longer be accepted; forbidden it is for another e-mail address.
   */
  async accept(tx: EntityManager, token: Secret, person: AcceptingPerson): Promise<JoinedOrganization> {
    const now = this.clock.now();
    const tokenHash = hashInvitationToken(token);
    const found = await this.repository.findByToken(tokenHash, now, tx);
    if (found === undefined) throw invitationGone();
    const { id, organizationId } = found;
    await this.members.lock(tx, organizationId);
    const offer = await this.repository.find(tx, organizationId, id);
    if (offer === undefined) throw invitationGone();
    const member = await this.members.find(tx, organizationId, person.identityId);
    const acceptance = acceptanceOf(offer, { ...person, memberRole: member?.role }, now.getTime());
    if (acceptance.outcome !== 'repeated') {
      await this.join(tx, { organizationId, identityId: person.identityId, joinedAt: now }, acceptance);
      await this.repository.markAccepted(tx, offer, person.identityId, now);
      await this.trail.record(tx, personActor(organizationId, person), entryOf(acceptance, id, person.identityId));
    }
    return { organizationId, role: acceptance.role };
  }

  private async join(
    tx: EntityManager,
    membership: Omit<Parameters<MembersRepository['insert']>[1], 'role'>,
    { outcome, role }: Acceptance,
  ): Promise<void> {
    const { organizationId, identityId } = membership;
    if (outcome === 'joined') await this.members.insert(tx, { ...membership, role });
    if (outcome === 'raised') await this.members.setRole(tx, organizationId, identityId, role);
  }
}

function entryOf({ outcome, role }: Acceptance, invitationId: string, identityId: string): AuditEntry {
  const member = { targetType: 'member', targetId: identityId, details: { role, invitationId } };
  if (outcome === 'joined') return { action: 'member.joined', ...member };
  if (outcome === 'raised') return { action: 'member.role_changed', ...member };
  return { action: 'invitation.accepted', targetType: 'invitation', targetId: invitationId };
}
