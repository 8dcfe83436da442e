import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountOpening } from '../identity/account-opening.service.js';
import type { ActingPerson } from '../identity/audit/audit-actor.rules.js';
import { ownOrganizationId } from './organization.rules.js';

/**
 * Name of the organization that everybody gets with their registration.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
const OWN_NAME = 'My Organization';

/** Gives people who register the organization that is theirs. */
@Injectable()
export class NewOrganizations {
  constructor(private readonly opening: AccountOpening) {}

  /**
   * Opens the own organization of a person who has just been stored, with their first session.
   *
   * @param person `name` is that of the organization.
   * @returns its id, which is derived from the person's.
   */
  async openFor(
    tx: EntityManager,
    { name = OWN_NAME, ...person }: ActingPerson & { readonly name?: string },
  ): Promise<{ readonly organizationId: string }> {
    const organizationId = ownOrganizationId(person.identityId);
    await this.opening.forPerson(tx, { id: organizationId, name }, person);
    return { organizationId };
  }
}
