import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { AppSnapshot } from '../../app-directory/app-snapshot.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { SERVER_TIMING } from '../../common/http/gateway-request.js';

const APP_ROUTE = /^\/v1\/apps\/([^/?#]+)\//;
const ALLOW_ORIGIN = 'access-control-allow-origin';
const EXPOSE_HEADERS = 'access-control-expose-headers';
/** Headers of the gateway's own answers that pages may read; for relayed answers, see {@link completeRelayedHead}. */
const EXPOSED = `retry-after, ${SERVER_TIMING}`;
/** The methods that the routes of an application accept. */
const ALLOWED_METHODS = 'GET, POST, PUT, PATCH, DELETE';
/** How long browsers cache the response to a preflight; the maximum of Chromium. */
const MAX_AGE_SECONDS = 7_200;
/** Names of headers, separated by commas (RFC 9110 5.6.2). */
const HEADER_NAMES = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/;
const MAX_HEADER_NAMES_LENGTH = 4_096;
const VARY_ORIGIN = { vary: 'Origin' };

/** The application of a request target, as sent; undefined outside the routes of applications. */
export function appIdOf(url: string | undefined): string | undefined {
  return APP_ROUTE.exec(url ?? '')?.[1];
}

/** Whether a request with an origin is a preflight (Fetch Standard, CORS protocol). */
export function isPreflight({ method, headers }: Pick<IncomingMessage, 'method' | 'headers'>): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}

/** The origins whose pages may call an application. */
export function originsOf(app: AppSnapshot | undefined): ReadonlySet<string> | undefined {
  return app === undefined || app.configError !== null ? undefined : app.allowedOrigins;
}

/** The headers of every answer of an application with allowed origins, including refusals. */
export function callHeaders(allowed: ReadonlySet<string>, origin: string | undefined): OutgoingHttpHeaders {
  if (origin === undefined || !allowed.has(origin)) return VARY_ORIGIN;
  return { ...VARY_ORIGIN, [ALLOW_ORIGIN]: origin, [EXPOSE_HEADERS]: EXPOSED };
}

/**
 * The headers of the answer to a preflight. Any header may be sent: browsers add no cookies or other credentials here,
 * so a page can send nothing that other clients could not.
 *
 * @param requested `Access-Control-Request-Headers`.
 * @throws forbidden the same for an application without allowed origins, one that does not allow this origin, and an
 * unknown one.
 */
export function preflightHeaders(
  allowed: ReadonlySet<string> | undefined,
  origin: string,
  requested: string | undefined,
): OutgoingHttpHeaders {
  if (!allowed?.has(origin)) {
    throw new GatewayError('forbidden', {
      message: 'Pages of this origin may not call this application.',
      reason: 'page_not_allowed',
      headers: VARY_ORIGIN,
    });
  }
  const isListed =
    requested !== undefined && requested.length <= MAX_HEADER_NAMES_LENGTH && HEADER_NAMES.test(requested);
  return {
    ...VARY_ORIGIN,
    [ALLOW_ORIGIN]: origin,
    'access-control-allow-methods': ALLOWED_METHODS,
    ...(isListed && { 'access-control-allow-headers': requested }),
    'access-control-max-age': String(MAX_AGE_SECONDS),
  };
}

/**
 * Adds to the head of a provider's answer what it would otherwise replace: `Vary: Origin` in addition to the
 * provider's, and pages may read all of its headers.
 *
 * @param headers flat list of names and values, which is changed.
 */
export function completeRelayedHead(response: ServerResponse, headers: string[]): void {
  if (!response.hasHeader('vary')) return;
  if (response.hasHeader(ALLOW_ORIGIN)) {
    const names = new Set(headers.filter((_part, at) => at % 2 === 0));
    headers.push(EXPOSE_HEADERS, [...names].join(', '));
  }
  headers.push('vary', VARY_ORIGIN.vary);
}
