import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DataSource, type EntityManager } from 'typeorm';
import { type ActingPerson, type PersonPrincipal, personActor } from '../accounts/access/admin-principal.js';
import { AuditTrail } from '../accounts/audit/audit-trail.js';
import { ConsoleCookies } from '../accounts/sessions/console-cookies.js';
import { ORGANIZATION_COOKIE, SESSION_COOKIE } from '../accounts/sessions/session-cookie.rules.js';
import type { OwnSessionRow, SessionRow } from '../accounts/sessions/sessions.repository.js';
import {
  type OpenedSession,
  type SessionClient,
  Sessions,
  type ValidSession,
} from '../accounts/sessions/sessions.service.js';
import { Clock } from '../common/clock.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { addressOf } from '../platform/address-limits/client-address.rules.js';
import { Environment } from '../platform/config/environment.js';
import { PeopleRepository } from './people/people.repository.js';

/** The browser of a request, with its session if that is valid. */
export interface BrowserClient extends SessionClient {
  readonly session: ValidSession | undefined;
}

/** Reads the browser of a request. Reading may renew the session cookies. */
@Injectable()
export class BrowserClients {
  constructor(
    private readonly sessions: Sessions,
    private readonly cookies: ConsoleCookies,
    private readonly environment: Environment,
  ) {}

  async of(request: FastifyRequest, reply: FastifyReply): Promise<BrowserClient> {
    const { [SESSION_COOKIE]: cookie, [ORGANIZATION_COOKIE]: organization } = request.cookies;
    const session = await this.sessions.find(cookie, organization);
    if (session !== undefined) this.cookies.renewSession(reply, session.renewedCookies);
    return {
      address: addressOf(request, this.environment.TRUSTED_PROXIES),
      userAgent: request.headers['user-agent'] ?? null,
      session,
    };
  }

  /** The browser with the session that was opened for it in the same request. */
  async signedIn(browser: BrowserClient, { cookie }: OpenedSession): Promise<BrowserClient> {
    return { ...browser, session: await this.sessions.find(cookie.reveal(), undefined) };
  }
}

/** Opens and ends console sessions of browsers. A new session replaces the browser's previous one; both are audited. */
@Injectable()
export class BrowserSessions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly sessions: Sessions,
    private readonly people: PeopleRepository,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
  ) {}

  /** Opens a session for an authenticated person and ends the browser's previous one. */
  async open(tx: EntityManager, identityId: string, browser: BrowserClient): Promise<OpenedSession> {
    const opened = await this.replace(tx, identityId, browser);
    const organizationId = await this.people.findHome(tx, identityId, this.clock.now());
    if (organizationId !== undefined) {
      await this.recordOpened(tx, organizationId, { identityId, sessionId: opened.id });
    }
    return opened;
  }

  /** As `open`, for a person without an organization yet; the caller calls `recordOpened` once there is one. */
  async replace(tx: EntityManager, identityId: string, browser: BrowserClient): Promise<OpenedSession> {
    if (browser.session !== undefined) await this.end(tx, browser.session.row);
    return this.sessions.open(tx, identityId, browser);
  }

  /** Opens a session of a person and ends every other one. Audits nothing: the caller records the reason. */
  async replaceAll(tx: EntityManager, identityId: string, browser: BrowserClient): Promise<OpenedSession> {
    const opened = await this.sessions.open(tx, identityId, browser);
    await this.sessions.endOthers(tx, identityId, opened.id);
    return opened;
  }

  /** @param organizationId the first organization of the session. */
  async recordOpened(tx: EntityManager, organizationId: string, person: ActingPerson): Promise<void> {
    await this.trail.record(tx, personActor(organizationId, person), {
      action: 'session.opened',
      targetType: 'session',
      targetId: person.sessionId,
    });
  }

  /** Ends the browser's session, effective from the next request on every instance. */
  async signOut({ session }: BrowserClient): Promise<void> {
    if (session !== undefined) await this.dataSource.transaction((tx) => this.end(tx, session.row));
  }

  /** The sessions of a person, the latest extended first. */
  listOf({ identityId }: ActingPerson): Promise<readonly OwnSessionRow[]> {
    return this.sessions.listOf(identityId);
  }

  /**
   * Ends one session of a person.
   *
   * @returns the number of sessions ended.
   * @throws GatewayError not_found for a session that is not theirs or has ended.
   */
  async revoke(person: PersonPrincipal, id: string): Promise<number> {
    const revoked = await this.endOwn(person, id);
    if (revoked === 0) throw new GatewayError('not_found', { message: 'Session not found; it may have ended.' });
    return revoked;
  }

  /**
   * Ends every session of a person, the one of the request included.
   *
   * @returns the number of sessions ended; 0 when another request ended them all at the same time.
   */
  revokeAll(person: PersonPrincipal): Promise<number> {
    return this.endOwn(person);
  }

  private endOwn(person: PersonPrincipal, id?: string): Promise<number> {
    return this.dataSource.transaction(async (tx) => {
      const ended = await this.sessions.endOwn(tx, person.identityId, id);
      for (const targetId of ended) await this.recordEnded(tx, person.organizationId, person, targetId);
      return ended.length;
    });
  }

  private async end(tx: EntityManager, { id, identityId, organizationId }: SessionRow): Promise<void> {
    const isEnded = await this.sessions.end(tx, id);
    if (isEnded) await this.recordEnded(tx, organizationId, { identityId, sessionId: id }, id);
  }

  private async recordEnded(
    tx: EntityManager,
    organizationId: string | null,
    person: ActingPerson,
    targetId: string,
  ): Promise<void> {
    if (organizationId === null) return;
    await this.trail.record(tx, personActor(organizationId, person), {
      action: 'session.ended',
      targetType: 'session',
      targetId,
    });
  }
}
