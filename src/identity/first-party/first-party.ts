import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { refuseRepeatedSession, SESSION_COOKIE } from '../sessions/session-cookie.rules.js';
import { ConsoleOrigin } from './console-origin.js';
import { CONSOLE_HEADER, requireFirstParty } from './first-party.rules.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set where the access declaration says `firstParty`; `exactOrigin` where it says that, too. */
    firstParty?: 'ownOrNone' | 'exactOrigin';
  }
}

/**
 * What every answer of the framework's routes says to browsers.
 *
 * Source: docs/reference/management-api.md#requests-and-bodies, docs/reference/security.md#browser-requests.
 */
const ANSWER_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** Judges where a browser's request comes from, before its body is read. */
@Injectable()
export class FirstParty {
  constructor(private readonly origin: ConsoleOrigin) {}

  /** Tells browsers what to do with the answer, whatever it will be. */
  label(reply: FastifyReply): void {
    void reply.headers(ANSWER_HEADERS);
  }

  /**
   * For the framework's hook that runs when the headers are there and the body is not.
   *
   * @throws invalid_request two session cookies; forbidden as `requireFirstParty` says, on routes for first parties only.
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
