import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ORGANIZATION_COOKIE, SESSION_COOKIE } from '../identity/sessions/session-cookie.rules.js';
import { type HeldSession, type SessionClient, Sessions } from '../identity/sessions/sessions.service.js';
import { addressOf } from '../limits/request-address.js';
import { Environment } from '../platform/config/environment.js';

/** The browser a request came from, and the session it has, if that holds. */
export interface BrowserClient extends SessionClient {
  readonly session: HeldSession | undefined;
}

/** Reads requests for what is known of their browser. */
@Injectable()
export class BrowserClients {
  constructor(
    private readonly sessions: Sessions,
    private readonly environment: Environment,
  ) {}

  async of(request: FastifyRequest): Promise<BrowserClient> {
    const { [SESSION_COOKIE]: session, [ORGANIZATION_COOKIE]: organization } = request.cookies;
    return {
      address: addressOf(request, this.environment.TRUSTED_PROXIES),
      userAgent: request.headers['user-agent'] ?? null,
      session: await this.sessions.find(session, organization),
    };
  }
}
