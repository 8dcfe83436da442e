import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountOpening } from '../identity/account-opening.service.js';
import type { ActingPerson } from '../identity/audit/audit-actor.rules.js';
import { ownOrganizationId } from './organization.rules.js';

/**
 * Default name of the organization that is created at registration.
 *
 * Source: docs/reference/management-api.md#organizations-and-members.
 */
const OWN_NAME = 'My Organization';

/** Creates the organization of a newly registered person. */
@Injectable()
export class NewOrganizations {
  constructor(private readonly opening: AccountOpening) {}

  /**
   * Creates the organization of a newly stored person with their first session.
   *
   * @param person `name` is the name of the organization.
   * @returns the id of the organization, derived from the person's id.
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
