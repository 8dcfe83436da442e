import { hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Secret } from '../../common/log/secret.js';
import { AuthSecrets } from '../../platform/secrets/signing-secrets.js';
import { ConsoleOrigin } from '../csrf/csrf-origins.js';
import {
  ORGANIZATION_COOKIE,
  organizationCookieFlags,
  SESSION_COOKIE,
  sessionCookieFlags,
} from './session-cookie.rules.js';

const KEY_BYTES = 32;

/** Purpose of a signed cookie. A signature for one purpose is invalid for every other. */
export type CookiePurpose = 'session' | 'current organization' | 'third-party sign-in';

/** Values of the console's cookies. */
export interface SessionCookies {
  /** Token and signature. */
  readonly session: Secret;
  /** Absent when no organization is chosen. */
  readonly organization: Secret | undefined;
}

/** Sets and clears the console's cookies. Source: docs/reference/management-api.md#sessions-and-cookies. */
@Injectable()
export class ConsoleCookies {
  constructor(private readonly origin: ConsoleOrigin) {}

  /** @param value token and signature. */
  setSession(reply: FastifyReply, value: string): void {
    void reply.setCookie(SESSION_COOKIE, value, sessionCookieFlags(this.origin.isHttps));
  }

  /** Renews the session cookie and the organization cookie when the session was extended. */
  renewSession(reply: FastifyReply, renewed: SessionCookies | undefined): void {
    if (renewed === undefined) return;
    const { session, organization } = renewed;
    this.setSession(reply, session.reveal());
    if (organization !== undefined) this.setOrganization(reply, organization);
  }

  setOrganization(reply: FastifyReply, value: Secret): void {
    void reply.setCookie(ORGANIZATION_COOKIE, value.reveal(), organizationCookieFlags(this.origin.isHttps));
  }

  /** Expires both cookies at sign-out. */
  clear(reply: FastifyReply): void {
    for (const name of [SESSION_COOKIE, ORGANIZATION_COOKIE]) {
      void reply.setCookie(name, '', { ...sessionCookieFlags(this.origin.isHttps), maxAge: 0 });
    }
  }
}

/** Keys of signed cookies, derived from the sign-in secrets that every instance shares. */
@Injectable()
export class CookieKeys {
  constructor(private readonly secrets: AuthSecrets) {}

  /**
   * The key that signs new cookies.
   *
   * Source: docs/reference/management-api.md#sessions-and-cookies (HKDF-SHA256, RFC 5869).
   */
  signing(purpose: CookiePurpose): Uint8Array {
    return derived(this.secrets.current, purpose);
  }

  /** Keys that may have signed a cookie: the current secret and, during a rotation, the previous one. */
  verifying(purpose: CookiePurpose): readonly Uint8Array[] {
    const { current, previous } = this.secrets;
    return previous === undefined
      ? [derived(current, purpose)]
      : [derived(current, purpose), derived(previous, purpose)];
  }
}

function derived(secret: Secret, purpose: CookiePurpose): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret.reveal(), '', `gateway cookie: ${purpose}`, KEY_BYTES));
}
