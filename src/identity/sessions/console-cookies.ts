import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Secret } from '../../common/log/secret.js';
import { ConsoleOrigin } from '../first-party/console-origin.js';
import {
  ORGANIZATION_COOKIE,
  organizationCookieFlags,
  SESSION_COOKIE,
  sessionCookieFlags,
} from './session-cookie.rules.js';
import type { HeldSession } from './sessions.service.js';

/** Sets and clears the console's cookies. Source: docs/reference/management-api.md#sessions-and-cookies. */
@Injectable()
export class ConsoleCookies {
  constructor(private readonly origin: ConsoleOrigin) {}

  /** @param value token and signature. */
  setSession(reply: FastifyReply, value: string): void {
    void reply.setCookie(SESSION_COOKIE, value, sessionCookieFlags(this.origin.isHttps));
  }

  /** Renews the session cookie and the organization cookie when the session was extended. */
  renewSession(reply: FastifyReply, { renewedCookies }: HeldSession): void {
    if (renewedCookies === undefined) return;
    const { session, organization } = renewedCookies;
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
