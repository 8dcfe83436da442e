import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Ids } from '../../common/ids.js';
import type { OpenedSession } from '../../identity/sessions/sessions.service.js';
import { violates } from '../../platform/database/violates.js';
import type { BrowserClient } from '../browser-client.js';
import { BrowserSessions } from '../browser-sessions.service.js';
import { FirstOrganizations } from './first-organizations.js';
import { PeopleRepository, type PersonRow } from './people.repository.js';
import type { NewPerson } from './person.rules.js';
import { RegistrationPolicy } from './registration-policy.service.js';

/** A person and their new session. */
export interface SignedInPerson {
  readonly person: PersonRow;
  readonly session: OpenedSession;
}

/** Stores new people. */
@Injectable()
export class Registration {
  constructor(
    private readonly policy: RegistrationPolicy,
    private readonly people: PeopleRepository,
    private readonly sessions: BrowserSessions,
    private readonly organizations: FirstOrganizations,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Stores a person with a first session and a first organization. The caller stores the credential in the same
   * transaction.
   *
   * @throws registration_disabled another person registered first; not_found, forbidden the invitation cannot be
   * accepted or is for another address, or the key created no account; conflict the e-mail address is taken, or the
   * account is claimed.
   */
  async register(tx: EntityManager, newcomer: NewPerson, browser: BrowserClient): Promise<SignedInPerson> {
    const { invitation, bootstrapKey, email } = newcomer;
    if (bootstrapKey !== undefined) await this.policy.waitForOthers(tx);
    else if (invitation === undefined) await this.policy.requireOpen(tx);
    const person = await this.insert(tx, newcomer);
    const session = await this.sessions.replace(tx, person.id, browser);
    const acting = { identityId: person.id, sessionId: session.id };
    const { organizationId } = await this.organizations.open(tx, { ...acting, email }, newcomer);
    await this.sessions.recordOpened(tx, organizationId, acting);
    return { person, session };
  }

  private async insert(tx: EntityManager, newcomer: NewPerson): Promise<PersonRow> {
    const { name, email, emailVerified, image } = newcomer;
    const now = this.clock.now();
    const id = `user_${this.ids.base36(20)}`;
    const person = { id, name, email, emailVerified, image, createdAt: now, updatedAt: now };
    try {
      await this.people.insert(tx, person);
    } catch (error) {
      if (violates(error, 'identities_email_key')) throw emailTaken();
      throw error;
    }
    return person;
  }
}

function emailTaken(): GatewayError {
  return new GatewayError('conflict', {
    message: 'This e-mail cannot be registered; sign in instead.',
    reason: 'email_taken',
  });
}
