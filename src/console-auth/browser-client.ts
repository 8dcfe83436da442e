import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsoleCookies } from '../identity/sessions/console-cookies.js';
import { ORGANIZATION_COOKIE, SESSION_COOKIE } from '../identity/sessions/session-cookie.rules.js';
import { type HeldSession, type SessionClient, Sessions } from '../identity/sessions/sessions.service.js';
import { Environment } from '../platform/config/environment.js';
import { addressOf } from '../rate-limits/request-address.js';

/** The browser of a request, with its session if that is valid. */
export interface BrowserClient extends SessionClient {
  readonly session: HeldSession | undefined;
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
    if (session !== undefined) this.cookies.renewSession(reply, session);
    return {
      address: addressOf(request, this.environment.TRUSTED_PROXIES),
      userAgent: request.headers['user-agent'] ?? null,
      session,
    };
  }
}
