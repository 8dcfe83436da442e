import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { type AcceptingPerson, Invitations } from '../../organizations/invitations/invitations.service.js';
import { NewOrganizations } from '../../organizations/new-organizations.service.js';
import { BootstrapClaims } from '../../organizations/unclaimed/bootstrap-claims.service.js';
import type { NewPerson } from './person.rules.js';

/** Assigns the first organization of a newly stored person. */
@Injectable()
export class FirstOrganizations {
  constructor(
    private readonly own: NewOrganizations,
    private readonly invitations: Invitations,
    private readonly claims: BootstrapClaims,
  ) {}

  /**
   * Claims the account of the bootstrap key, or accepts the invitation, or creates the person's own organization.
   * Exactly one of them applies.
   *
   * @throws not_found, forbidden as `Invitations.accept`; forbidden, conflict as `BootstrapClaims.claim`.
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
