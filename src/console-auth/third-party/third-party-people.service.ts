import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../../common/clock.js';
import type { Secret } from '../../common/log/secret.js';
import type { OpenedSession } from '../../identity/sessions/sessions.service.js';
import type { BrowserClient } from '../browser-client.js';
import { BrowserSessions } from '../browser-sessions.service.js';
import { Registration } from '../people/registration.service.js';
import { OpenIdSubjectsRepository } from './openid-subjects.repository.js';
import type { OpenIdSubject, ThirdPartyPerson } from './third-party-person.rules.js';

/**
 * People signed in by a third party. Issuer and subject alone identify them. An e-mail address claim never links to an
 * existing person.
 */
@Injectable()
export class ThirdPartyPeople {
  constructor(
    private readonly dataSource: DataSource,
    private readonly subjects: OpenIdSubjectsRepository,
    private readonly registration: Registration,
    private readonly sessions: BrowserSessions,
    private readonly clock: Clock,
  ) {}

  /**
   * Opens a session; registers an unknown subject.
   *
   * @param invitation the token of an invitation; used only for a registration.
   * @throws as `Registration.register`.
   */
  signIn(person: ThirdPartyPerson, invitation: Secret | undefined, browser: BrowserClient): Promise<OpenedSession> {
    const { issuer, subject, ...newcomer } = person;
    const known = { issuer, subject };
    return this.dataSource.transaction(async (tx) => {
      const identityId = (await this.subjects.findIdentity(tx, known)) ?? (await this.subjects.findLatest(tx, known));
      if (identityId !== undefined) return this.sessions.open(tx, identityId, browser);
      return this.register(tx, known, { ...newcomer, invitation }, browser);
    });
  }

  private async register(
    tx: EntityManager,
    subject: OpenIdSubject,
    newcomer: Parameters<Registration['register']>[1],
    browser: BrowserClient,
  ): Promise<OpenedSession> {
    const { person, session } = await this.registration.register(tx, newcomer, browser);
    await this.subjects.insert(tx, subject, person.id, this.clock.now());
    return session;
  }
}
