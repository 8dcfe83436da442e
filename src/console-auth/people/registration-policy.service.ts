import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { Secret } from '../../common/log/secret.js';
import { InvitationLinks } from '../../organizations/invitations/invitation-links.service.js';
import { Environment } from '../../platform/config/environment.js';
import { PeopleRepository } from './people.repository.js';

/**
 * Who may register: anybody until there is a first person; then nobody, unless the operator says otherwise; and always
 * whoever is invited.
 *
 * Source: decision 6.3; contract-admin 7.4.
 */
@Injectable()
export class RegistrationPolicy {
  constructor(
    private readonly people: PeopleRepository,
    private readonly links: InvitationLinks,
    private readonly environment: Environment,
  ) {}

  /** Whether anybody may register now. */
  async isOpen(): Promise<boolean> {
    return this.environment.ALLOW_ADDITIONAL_REGISTRATIONS || !(await this.people.hasAny());
  }

  /**
   * Refuses who may not register, before anybody's e-mail address is looked up: nobody learns here who has an account,
   * neither by an invitation for another address.
   *
   * @throws registration_disabled; not_found for an invitation that opens nothing (any more), forbidden for another's.
   * Source: threats 7.10.
   */
  async requireAllowed(email: string, invitation: Secret | undefined): Promise<void> {
    if (invitation !== undefined) await this.links.requireInvited(invitation, email);
    else if (!(await this.isOpen())) throw registrationDisabled();
  }

  /**
   * Refuses to store a person who was not invited, when another one has come first; others wait until this transaction
   * ends, so of several who would be the first person one is.
   *
   * @throws registration_disabled
   */
  async requireOpen(tx: EntityManager): Promise<void> {
    if (this.environment.ALLOW_ADDITIONAL_REGISTRATIONS) return;
    await this.people.lockRegistration(tx);
    if (await this.people.hasAny(tx)) throw registrationDisabled();
  }
}

function registrationDisabled(): GatewayError {
  return new GatewayError('registration_disabled', { reason: 'registration_closed' });
}
