import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Clock, type Instant, instantOf } from '../../common/clock.js';
import { latestExpiryMs } from '../../common/credential-lifetime.rules.js';
import { Ids } from '../../common/ids.js';
import { Secret } from '../../common/log/secret.js';
import { CookieKeys } from './cookie-keys.js';
import { isRenewalDue, readSignedCookie, SESSION_LIFETIME_SECONDS, signedCookie } from './session-cookie.rules.js';
import { type SessionRow, SessionsRepository } from './sessions.repository.js';

const TOKEN_CHARACTERS = 48;
const MAX_USER_AGENT_CHARACTERS = 300;
const LIFETIME_MS = SESSION_LIFETIME_SECONDS * 1000;

/** A session that has just begun. */
export interface OpenedSession {
  readonly id: string;
  /** The value of the session cookie: token and signature. */
  readonly cookie: Secret;
  readonly token: Secret;
  readonly expiresAt: Instant;
}

/** Where a session is used from, for its owner to recognise it. */
export interface SessionClient {
  readonly address: string | null;
  readonly userAgent: string | null;
}

/** Values of the console's cookies. */
interface SessionCookies {
  /** Token and signature. */
  readonly session: Secret;
  /** Absent while no organization was chosen. */
  readonly organization: Secret | undefined;
}

/** A session that holds. */
export interface HeldSession {
  readonly row: SessionRow;
  readonly token: Secret;
  /** To be set in place of what was sent, because the session now lives longer. */
  readonly renewedCookies: SessionCookies | undefined;
}

/** Begins, proves and ends console sessions. Nothing is remembered between requests: an end counts from the next one on. */
@Injectable()
export class Sessions {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly keys: CookieKeys,
    private readonly clock: Clock,
    private readonly ids: Ids,
  ) {}

  /**
   * Begins a session of a person who has just proven who they are. Its token is always a new one, so that nobody can
   * fix it in advance.
   */
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
   * The session of a cookie, acting in the organization its other cookie names or in the oldest one. Once a day it is
   * made to live a full lifetime again, in cookies that outlive the secret the last ones were signed with.
   *
   * @returns `undefined` without a cookie of ours, and for a session that ended.
   * Source: docs/reference/management-api.md#sessions-and-cookies, docs/reference/security.md#vault,
   * docs/reference/security.md#revocation.
   */
  async find(
    sessionCookie: string | undefined,
    organizationCookie: string | undefined,
  ): Promise<HeldSession | undefined> {
    const token = readSignedCookie(sessionCookie, this.keys.verifying('session'));
    if (token === undefined) return undefined;
    const organizationId = readSignedCookie(organizationCookie, this.keys.verifying('current organization'));
    const now = this.clock.now();
    const latestEnd = instantOf(latestExpiryMs(LIFETIME_MS, now.getTime()));
    const row = await this.sessions.findHolder(hashOf(token), organizationId ?? null, { at: now, latestEnd });
    if (row === undefined) return undefined;
    const held = { row, token: new Secret(token), renewedCookies: undefined };
    if (!isRenewalDue(row.renewed_at.getTime(), now.getTime())) return held;
    const expiresAt = lifetimeFrom(now);
    await this.sessions.renew(row.id, now, expiresAt);
    const organization = organizationId === undefined ? undefined : this.organizationCookie(organizationId);
    const renewedCookies = { session: this.cookieOf(token), organization };
    return { ...held, row: { ...row, renewed_at: now, expires_at: expiresAt }, renewedCookies };
  }

  /** The value of the cookie that names the current organization. */
  organizationCookie(organizationId: string): Secret {
    return new Secret(signedCookie(organizationId, this.keys.signing('current organization')));
  }

  /** Ends a session, at once everywhere. @returns whether it had not ended before. */
  end(tx: EntityManager, id: string): Promise<boolean> {
    return this.sessions.delete(tx, id);
  }

  /** Ends all sessions of a person but the one they act through. */
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
