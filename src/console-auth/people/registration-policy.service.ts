import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { InvitationLinks } from '../../organizations/invitations/invitation-links.service.js';
import { BootstrapClaims } from '../../organizations/unclaimed/bootstrap-claims.service.js';
import { Environment } from '../../platform/config/environment.js';
import { PeopleRepository } from './people.repository.js';
import type { NewPerson } from './person.rules.js';

/** The parts of a registration that decide whether it is allowed. */
type AskingPerson = Pick<NewPerson, 'email' | 'invitation' | 'bootstrapKey'>;

/**
 * Decides who may register: anyone until the first person exists; afterwards only if the operator allows it. An
 * invitation, or the bootstrap key of an unclaimed account, always allows it (docs/adr/0041).
 *
 * Source: docs/reference/management-api.md#registration.
 */
@Injectable()
export class RegistrationPolicy {
  constructor(
    private readonly people: PeopleRepository,
    private readonly links: InvitationLinks,
    private readonly claims: BootstrapClaims,
    private readonly environment: Environment,
  ) {}

  /** Whether registration is open without an invitation or key. */
  async isOpen(): Promise<boolean> {
    return this.environment.ALLOW_ADDITIONAL_REGISTRATIONS || !(await this.people.hasAny());
  }

  /**
   * Refuses a registration that is not allowed. It runs before the e-mail address is looked up, so that the response
   * does not reveal whether an address is registered.
   *
   * @throws registration_disabled; not_found the invitation cannot be accepted, forbidden it is for another address;
   * forbidden, conflict as `BootstrapClaims.requireClaimable`.
   * Source: docs/reference/security.md#sign-in.
   */
  async requireAllowed({ email, invitation, bootstrapKey }: AskingPerson): Promise<void> {
    if (bootstrapKey !== undefined) await this.claims.requireClaimable(bootstrapKey);
    else if (invitation !== undefined) await this.links.requireInvited(invitation, email);
    else if (!(await this.isOpen())) throw registrationDisabled();
  }

  /**
   * Refuses a registration without an invitation when a person already exists. Concurrent registrations wait until this
   * transaction ends, so that only one becomes the first person.
   *
   * @throws registration_disabled
   */
  async requireOpen(tx: EntityManager): Promise<void> {
    if (this.environment.ALLOW_ADDITIONAL_REGISTRATIONS) return;
    await this.waitForOthers(tx);
    if (await this.people.hasAny(tx)) throw registrationDisabled();
  }

  /** Serializes registrations of the first person until this transaction ends. */
  waitForOthers(tx: EntityManager): Promise<void> {
    return this.people.lockRegistration(tx);
  }
}

function registrationDisabled(): GatewayError {
  return new GatewayError('registration_disabled', { reason: 'registration_closed' });
}
