import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { InvitationLinks } from '../../organizations/invitations/invitation-links.service.js';
import { BootstrapClaims } from '../../organizations/unclaimed/bootstrap-claims.service.js';
import { Environment } from '../../platform/config/environment.js';
import type { NewPerson } from './new-person.js';
import { PeopleRepository } from './people.repository.js';

/** Who asks to register, and what they bring that lets them. */
type AskingPerson = Pick<NewPerson, 'email' | 'invitation' | 'bootstrapKey'>;

/**
 * Who may register: anybody until there is a first person; then nobody, unless the operator says otherwise; and always
 * whoever is invited, or proves the key of an account that nobody has claimed (docs/adr/0041).
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

  /** Whether anybody may register now. */
  async isOpen(): Promise<boolean> {
    return this.environment.ALLOW_ADDITIONAL_REGISTRATIONS || !(await this.people.hasAny());
  }

  /**
   * Refuses who may not register, before anybody's e-mail address is looked up: nobody learns here who has an account,
   * neither by an invitation for another address.
   *
   * @throws registration_disabled; not_found for an invitation that opens nothing (any more), forbidden for another's;
   * forbidden, conflict as `BootstrapClaims.requireClaimable` says.
   * Source: docs/reference/security.md#sign-in.
   */
  async requireAllowed({ email, invitation, bootstrapKey }: AskingPerson): Promise<void> {
    if (bootstrapKey !== undefined) await this.claims.requireClaimable(bootstrapKey);
    else if (invitation !== undefined) await this.links.requireInvited(invitation, email);
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
    await this.waitForOthers(tx);
    if (await this.people.hasAny(tx)) throw registrationDisabled();
  }

  /** Makes everyone else who may be the first person wait until this transaction ends. */
  waitForOthers(tx: EntityManager): Promise<void> {
    return this.people.lockRegistration(tx);
  }
}

function registrationDisabled(): GatewayError {
  return new GatewayError('registration_disabled', { reason: 'registration_closed' });
}
