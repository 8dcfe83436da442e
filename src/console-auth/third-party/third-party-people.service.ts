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
 * People whom a third party has signed in. They are who they are by its issuer and subject alone: an e-mail address that is known
 * here already, with a password or otherwise, is not theirs by being told.
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
   * Begins a session; registers who comes for the first time.
   *
   * @param invitation the token they came with; it counts for who registers.
   * @throws as `Registration.register` says.
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
