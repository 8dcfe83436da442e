import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseRepeatedSession, SESSION_COOKIE } from '../sessions/session-cookie.rules.js';
import { ConsoleOrigin } from './console-origin.js';
import { CONSOLE_HEADER, requireFirstParty } from './first-party.rules.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set when the access declaration has `firstParty`; `exactOrigin` when it has that, too. */
    firstParty?: 'ownOrNone' | 'exactOrigin';
  }
}

/**
 * Security headers of every response of the framework's routes.
 *
 * Source: docs/reference/management-api.md#requests-and-bodies, docs/reference/security.md#browser-requests.
 */
const ANSWER_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Refuses cross-site requests before the body is read. */
@Injectable()
export class FirstParty {
  constructor(private readonly origin: ConsoleOrigin) {}

  /** Sets the security headers on any response. */
  label(reply: FastifyReply): void {
    void reply.headers(ANSWER_HEADERS);
  }

  /**
   * Runs in the framework hook after the request head and before the body.
   *
   * @throws invalid_request two session cookies; forbidden as `requireFirstParty`, on first-party routes only.
   */
  judge(request: FastifyRequest): void {
    refuseRepeatedSession(request.headers.cookie);
    const demand = request.routeOptions.config?.firstParty;
    if (demand === undefined) return;
    const { origin } = request.headers;
    const site = request.headers['sec-fetch-site'];
    requireFirstParty({
      method: request.method,
      demandsOrigin: demand === 'exactOrigin',
      origin,
      isOwnOrigin: origin !== undefined && this.origin.isOwn(origin, request.raw.socket.localPort),
      fetchSite: Array.isArray(site) ? site[0] : site,
      hasSessionCookie: request.headers.cookie?.includes(SESSION_COOKIE) ?? false,
      hasConsoleHeader: request.headers[CONSOLE_HEADER] === '1',
    });
  }
}
