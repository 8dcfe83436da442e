import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type AcceptingPerson, Invitations } from '../../organizations/invitations/invitations.service.js';
import { NewOrganizations } from '../../organizations/new-organizations.service.js';
import { BootstrapClaims } from '../../organizations/unclaimed/bootstrap-claims.service.js';
import type { NewPerson } from './new-person.js';

/** The organization that a person who has just been stored belongs to. */
@Injectable()
export class FirstOrganizations {
  constructor(
    private readonly own: NewOrganizations,
    private readonly invitations: Invitations,
    private readonly claims: BootstrapClaims,
  ) {}

  /**
   * Opens one of their own, or makes them a member of the one they are invited to, or the owner of the one that their key
   * has opened, and of that alone.
   *
   * @throws not_found, forbidden as `Invitations.accept` says; forbidden, conflict as `BootstrapClaims.claim` says.
   */
  async open(
    tx: EntityManager,
    { email, ...acting }: AcceptingPerson,
    { invitation, bootstrapKey }: Pick<NewPerson, 'invitation' | 'bootstrapKey'>,
  ): Promise<{ readonly organizationId: string }> {
    if (bootstrapKey !== undefined) return this.claims.claim(tx, bootstrapKey, acting);
    if (invitation === undefined) return this.own.openFor(tx, acting);
    return this.invitations.accept(tx, invitation, { email, ...acting });
  }
}
