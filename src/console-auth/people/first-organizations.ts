import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Secret } from '../../common/log/secret.js';
import { type AcceptingPerson, Invitations } from '../../organizations/invitations/invitations.service.js';
import { NewOrganizations } from '../../organizations/new-organizations.service.js';

/** The organization that a person who has just been stored belongs to. */
@Injectable()
export class FirstOrganizations {
  constructor(
    private readonly own: NewOrganizations,
    private readonly invitations: Invitations,
  ) {}

  /**
   * Opens one of their own, or makes them a member of the one they are invited to, and of that alone.
   *
   * @throws not_found, forbidden as `Invitations.accept` says.
   */
  async open(
    tx: EntityManager,
    { email, ...acting }: AcceptingPerson,
    invitation: Secret | undefined,
  ): Promise<{ readonly organizationId: string }> {
    if (invitation === undefined) return this.own.openFor(tx, acting);
    return this.invitations.accept(tx, invitation, { email, ...acting });
  }
}
