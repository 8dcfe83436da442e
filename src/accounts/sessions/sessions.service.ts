import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock, type Instant, instantOf } from '../../common/clock.js';
import { latestExpiryMs } from '../../common/credential-lifetime.rules.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { CookieKeys, type SessionCookies } from './console-cookies.js';
import { isRenewalDue, readSignedCookie, SESSION_LIFETIME_SECONDS, signedCookie } from './session-cookie.rules.js';
import { type OwnSessionRow, type SessionRow, SessionsRepository } from './sessions.repository.js';

const TOKEN_CHARACTERS = 48;
const MAX_USER_AGENT_CHARACTERS = 300;
const LIFETIME_MS = SESSION_LIFETIME_SECONDS * 1000;

/** A new session. */
export interface OpenedSession {
  readonly id: string;
  /** The value of the session cookie: token and signature. */
  readonly cookie: Secret;
  readonly token: Secret;
  readonly expiresAt: Instant;
}

/** The client of a session, for its owner to recognise it. */
export interface SessionClient {
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** A valid session. */
export interface ValidSession {
  readonly row: SessionRow;
  readonly token: Secret;
  /** Present when the session was extended; replaces the cookies of the request. */
  readonly renewedCookies: SessionCookies | undefined;
}

/** Opens, authenticates and ends console sessions. There is no cache, so an end takes effect on the next request. */
@Injectable()
export class Sessions {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly keys: CookieKeys,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /** Opens a session after a successful sign-in. The token is always new, which prevents session fixation. */
  async open(tx: EntityManager, identityId: string, { address, userAgent }: SessionClient): Promise<OpenedSession> {
    const token = this.ids.base62(TOKEN_CHARACTERS);
    const id = `session_${this.ids.base36(20)}`;
    const createdAt = this.clock.now();
    const expiresAt = lifetimeFrom(createdAt);
    await this.sessions.insert(tx, {
      id,
      identityId,
      tokenHash: hashOf(token),
      address,
      userAgent: userAgent?.slice(0, MAX_USER_AGENT_CHARACTERS).toWellFormed() ?? null,
      createdAt,
      expiresAt,
    });
    return { id, cookie: this.cookieOf(token), token: new Secret(token), expiresAt };
  }

  /**
   * The session of a cookie, in the organization of the organization cookie or the one joined first. Once a day the
   * session is extended by a full lifetime, and its cookies are signed again with the current secret.
   *
   * @returns `undefined` without a validly signed cookie, and for a session that ended.
   * Source: docs/reference/management-api.md#sessions-and-cookies, docs/reference/security.md#vault,
   * docs/reference/security.md#revocation.
   */
  async find(
    sessionCookie: string | undefined,
    organizationCookie: string | undefined,
  ): Promise<ValidSession | undefined> {
    const token = readSignedCookie(sessionCookie, this.keys.verifying('session'));
    if (token === undefined) return undefined;
    const organizationId = readSignedCookie(organizationCookie, this.keys.verifying('current organization'));
    const now = this.clock.now();
    const latestEnd = instantOf(latestExpiryMs(LIFETIME_MS, now.getTime()));
    const row = await this.sessions.findValid(hashOf(token), organizationId ?? null, { at: now, latestEnd });
    if (row === undefined) return undefined;
    const valid = { row, token: new Secret(token), renewedCookies: undefined };
    if (!isRenewalDue(row.renewedAt.getTime(), now.getTime())) return valid;
    const expiresAt = lifetimeFrom(now);
    await this.sessions.renew(row.id, now, expiresAt);
    const organization = organizationId === undefined ? undefined : this.organizationCookie(organizationId);
    const renewedCookies = { session: this.cookieOf(token), organization };
    return { ...valid, row: { ...row, renewedAt: now, expiresAt }, renewedCookies };
  }

  /** The value of the cookie that names the current organization. */
  organizationCookie(organizationId: string): Secret {
    return new Secret(signedCookie(organizationId, this.keys.signing('current organization')));
  }

  /** Ends a session at every instance at once. @returns whether it had not ended before. */
  end(tx: EntityManager, id: string): Promise<boolean> {
    return this.sessions.delete(tx, id);
  }

  /** The sessions of a person that have not ended, the latest extended first. */
  listOf(identityId: string): Promise<OwnSessionRow[]> {
    return this.sessions.listValid(identityId, this.clock.now());
  }

  /** Ends the session of this id, or every one, of a person. @returns ids of those that had not ended before. */
  endOwn(tx: EntityManager, identityId: string, id?: string): Promise<readonly string[]> {
    return this.sessions.deleteOwn(tx, identityId, id);
  }

  /** Ends all other sessions of a person. */
  async endOthers(tx: EntityManager, identityId: string, keptId: string): Promise<void> {
    await this.sessions.deleteOthers(tx, identityId, keptId);
  }

  private cookieOf(token: string): Secret {
    return new Secret(signedCookie(token, this.keys.signing('session')));
  }
}

function lifetimeFrom(begin: Instant): Instant {
  return instantOf(begin.getTime() + LIFETIME_MS);
}

function hashOf(token: string): string {
  return hash('sha256', token, 'hex');
}
