import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Environment } from '../../platform/config/environment.js';
import { LOOPBACK_HOSTS } from '../../platform/outbound/url-host.rules.js';
import { refuseRepeatedSession, SESSION_COOKIE } from '../sessions/session-cookie.rules.js';

/** The console's pages send it with the session cookie, always `1`. Cross-site pages cannot set it. */
export const CONSOLE_HEADER = 'x-console-request';

/** The request head, as far as the cross-site check uses it. */
export interface FirstPartyRequest {
  readonly method: string;
  /** Whether the route refuses requests without an origin. */
  readonly requiresOrigin: boolean;
  readonly origin: string | undefined;
  /** Whether `origin` is the console's own. */
  readonly isOwnOrigin: boolean;
  /** `Sec-Fetch-Site`; pages cannot set it. */
  readonly fetchSite: string | undefined;
  readonly hasSessionCookie: boolean;
  /** Whether {@link CONSOLE_HEADER} was sent. */
  readonly hasConsoleHeader: boolean;
}

/** Values of `Sec-Fetch-Site` for requests that are not cross-site. */
const OWN_FETCH_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Refuses requests that a cross-site page may have sent (CSRF and login CSRF). Browsers send `Origin` or
 * `Sec-Fetch-Site`. Other clients send neither, and send a cookie only on purpose.
 *
 * @throws forbidden
 * Source: docs/reference/management-api.md#console-requests-and-origins, docs/reference/security.md#browser-requests.
 */
export function requireFirstParty(request: FirstPartyRequest): void {
  const { method, requiresOrigin, origin, isOwnOrigin, fetchSite, hasSessionCookie, hasConsoleHeader } = request;
  if (origin !== undefined) {
    if (!isOwnOrigin) throw foreignOrigin(`The origin ${printable(origin)} is not this console's.`);
    return;
  }
  if (requiresOrigin) throw foreignOrigin("Send the console's origin in `Origin`, as browsers do.");
  if (method === 'GET' || method === 'HEAD') return;
  if (fetchSite !== undefined && !OWN_FETCH_SITES.has(fetchSite)) throw foreignOrigin('The request has no origin.');
  if (hasSessionCookie && !hasConsoleHeader) {
    throw foreignOrigin(`Send \`${CONSOLE_HEADER}: 1\` with a session cookie.`);
  }
}

function foreignOrigin(message: string): GatewayError {
  return new GatewayError('forbidden', { message, reason: 'foreign_origin' });
}

function printable(origin: string): string {
  return /^[\x21-\x7e]{1,200}$/.test(origin) ? origin : 'that was sent';
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set when the access declaration has `firstParty`; `exactOrigin` when it has that, too. */
    firstParty?: 'ownOrNone' | 'exactOrigin';
    /** Set when the access declaration has `consoleHost`. */
    consoleHost?: boolean;
  }
}

/**
 * Security headers of every response of the framework's routes.
 *
 * Source: docs/reference/management-api.md#requests-and-bodies, docs/reference/security.md#browser-requests.
 */
const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** The origin of the console: the setting `PUBLIC_URL`, or a loopback name of this machine. */
@Injectable()
export class ConsoleOrigin {
  /** Such as `https://gateway.example.com`; the base of links. */
  readonly url: string;
  readonly isHttps: boolean;
  /** The issuer of OAuth tokens: a fixed origin; undefined while there is no authorization server. */
  readonly issuer: string | undefined;
  readonly #named: string | undefined;

  constructor({ PUBLIC_URL, PORT, OAUTH_ENABLED }: Environment) {
    this.#named = PUBLIC_URL;
    this.url = PUBLIC_URL ?? `http://localhost:${PORT}`;
    this.issuer = OAUTH_ENABLED ? PUBLIC_URL : undefined;
    this.isHttps = this.url.startsWith('https:');
  }

  /** The message for a request to another host: the address to open, and the setting if it is missing. */
  get elsewhere(): string {
    const here = `This is served under ${this.url} only; open it there`;
    return this.#named === undefined ? `${here}, or set PUBLIC_URL to the origin that browsers use.` : `${here}.`;
  }

  /**
   * Whether an origin is the console's own.
   *
   * @param origin the `Origin` header, compared exactly.
   * @param port the local port of the request's socket; used when `PUBLIC_URL` is not set.
   */
  isOwn(origin: string, port: number | undefined): boolean {
    if (this.#named !== undefined) return origin === this.#named;
    return LOOPBACK_HOSTS.some((name) => origin === `http://${name}:${port}`);
  }

  /**
   * As `url`, under the loopback name that a request came to: people see one address, not `localhost` here and
   * `127.0.0.1` there.
   *
   * @param host the `Host` header.
   * @param port the local port of the request's socket.
   */
  urlFor(host: string | undefined, port: number | undefined): string {
    return this.#named === undefined && this.isOwnHost(host, port) ? `http://${host?.toLowerCase()}` : this.url;
  }

  /**
   * Whether a request names the host of the console.
   *
   * @param host the `Host` header.
   * @param port the local port of the request's socket.
   */
  isOwnHost(host: string | undefined, port: number | undefined): boolean {
    if (host === undefined) return false;
    const name = host.toLowerCase();
    if (this.#named !== undefined) return name === new URL(this.#named).host;
    return LOOPBACK_HOSTS.some((own) => name === `${own}:${port}` || (port === 80 && name === own));
  }
}

/** Refuses cross-site requests before the body is read. */
@Injectable()
export class FirstParty {
  constructor(private readonly origin: ConsoleOrigin) {}

  /** Sets the security headers on any response. */
  setSecurityHeaders(reply: FastifyReply): void {
    void reply.headers(SECURITY_HEADERS);
  }

  /**
   * Runs in the framework hook after the request head and before the body.
   *
   * @throws invalid_request two session cookies; not_found another host than the console's, where the route requires
   * it; forbidden as `requireFirstParty`, on first-party routes only.
   */
  validate(request: FastifyRequest): void {
    refuseRepeatedSession(request.headers.cookie);
    if (request.routeOptions.config?.consoleHost) this.requireConsoleHost(request);
    const requirement = request.routeOptions.config?.firstParty;
    if (requirement === undefined) return;
    const { origin } = request.headers;
    const site = request.headers['sec-fetch-site'];
    requireFirstParty({
      method: request.method,
      requiresOrigin: requirement === 'exactOrigin',
      origin,
      isOwnOrigin: origin !== undefined && this.origin.isOwn(origin, request.raw.socket.localPort),
      fetchSite: Array.isArray(site) ? site[0] : site,
      hasSessionCookie: request.headers.cookie?.includes(SESSION_COOKIE) ?? false,
      hasConsoleHeader: request.headers[CONSOLE_HEADER] === '1',
    });
  }

  private requireConsoleHost({ headers, raw }: FastifyRequest): void {
    if (this.origin.isOwnHost(headers.host, raw.socket.localPort)) return;
    throw new GatewayError('not_found', {
      message: this.origin.elsewhere,
      reason: 'foreign_host',
    });
  }
}
