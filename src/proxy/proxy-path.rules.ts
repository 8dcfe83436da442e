import { GatewayError } from '../common/errors/gateway-error.js';

/** Everything before the provider's slug; a slash in a query is none of the path. */
const ROUTE = /^\/v1\/apps\/([^/?#]+)\/proxy\//;

/** The parts of a proxy URL, verbatim as sent. */
export interface ProxyPath {
  readonly appId: string;
  readonly providerSlug: string;
  /** Everything after the provider's slug, still percent-encoded, without a leading slash. */
  readonly path: string;
  /** The query without its question mark, or empty. */
  readonly query: string;
}

/**
 * Takes a proxy URL apart without decoding anything: what is matched is what is sent.
 *
 * @param url request target, perhaps `/v1/apps/{app}/proxy/{provider}/{path…}`.
 * @returns `undefined` for any other URL.
 * Source: docs/reference/application-api.md#proxy-paths.
 */
export function findProxyPath(url: string): ProxyPath | undefined {
  const route = ROUTE.exec(url);
  if (route === null) return undefined;
  const slugStart = route[0].length;
  const question = url.indexOf('?');
  const end = question < 0 ? url.length : question;
  const slash = url.indexOf('/', slugStart);
  const slugEnd = slash < 0 || slash > end ? end : slash;
  return {
    appId: route[1] ?? '',
    providerSlug: url.slice(slugStart, slugEnd),
    path: url.slice(slugEnd + 1, end),
    query: question < 0 ? '' : url.slice(question + 1),
  };
}

/**
 * The refusal (404) of a URL that a router took for a proxy's by reading an escape as a letter of the route: nothing may
 * be read at the wrong place because of it.
 */
export function escapedRoute(): GatewayError {
  return new GatewayError('invalid_request', { status: 404, message: 'Route not found', reason: 'route_escaped' });
}
