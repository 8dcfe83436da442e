import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock } from '../common/clock.js';
import { type ActingPerson, personActor } from '../identity/audit/audit-actor.rules.js';
import { AuditTrail } from '../identity/audit/audit-trail.js';
import type { SessionRow } from '../identity/sessions/sessions.repository.js';
import { type OpenedSession, Sessions } from '../identity/sessions/sessions.service.js';
import type { BrowserClient } from './browser-client.js';
import { PeopleRepository } from './people/people.repository.js';

/** The sessions of browsers: when one begins, the one before it ends. The trail tells of both. */
@Injectable()
export class BrowserSessions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly sessions: Sessions,
    private readonly people: PeopleRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Begins a session of a person who has just proven who they are, in place of the browser's. */
  async open(tx: EntityManager, identityId: string, browser: BrowserClient): Promise<OpenedSession> {
    const opened = await this.replace(tx, identityId, browser);
    const organizationId = await this.people.findHome(tx, identityId, this.clock.now());
    if (organizationId !== undefined) {
      await this.recordOpened(tx, organizationId, { identityId, sessionId: opened.id });
    }
    return opened;
  }

  /** Does the same for a person whose organization does not stand yet; it is then told to `recordOpened`. */
  async replace(tx: EntityManager, identityId: string, browser: BrowserClient): Promise<OpenedSession> {
    if (browser.session !== undefined) await this.end(tx, browser.session.row);
    return this.sessions.open(tx, identityId, browser);
  }

  /** @param organizationId where the session acts first. */
  async recordOpened(tx: EntityManager, organizationId: string, person: ActingPerson): Promise<void> {
    await this.trail.record(tx, personActor(organizationId, person), {
      action: 'session.opened',
      targetType: 'session',
      targetId: person.sessionId,
    });
  }

  /** Ends the browser's session; from the next request on it proves nobody, on every instance. */
  async signOut({ session }: BrowserClient): Promise<void> {
    if (session !== undefined) await this.dataSource.transaction((tx) => this.end(tx, session.row));
  }

  private async end(
    tx: EntityManager,
    { id, identity_id: identityId, organization_id: organizationId }: SessionRow,
  ): Promise<void> {
    const isEnded = await this.sessions.end(tx, id);
    if (!isEnded || organizationId === null) return;
    await this.trail.record(tx, personActor(organizationId, { identityId, sessionId: id }), {
      action: 'session.ended',
      targetType: 'session',
      targetId: id,
    });
  }
}
