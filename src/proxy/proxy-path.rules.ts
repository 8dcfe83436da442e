import { GatewayError } from '../common/errors/gateway-error.js';

/** Everything before the provider's slug; a slash in the query is not part of the path. */
const PROXY_ROUTE = /^\/v1\/apps\/([^/?#]+)\/proxy\//;
/** Complete path of a named endpoint; the query is ignored. */
const ENDPOINT_ROUTE = /^\/v1\/apps\/([^/?#]+)\/endpoints\/([^/?#]+)(?:[?#]|$)/;

/** Parts of a proxy URL, as sent. */
export interface ProxyPath {
  readonly appId: string;
  readonly providerSlug: string;
  /** Everything after the provider's slug, percent-encoded, without a leading slash. */
  readonly path: string;
  /** The query without its question mark; may be empty. */
  readonly query: string;
}

/**
 * Splits a proxy URL without decoding, so that the matched path is the sent path.
 *
 * @param url request target, possibly `/v1/apps/{app}/proxy/{provider}/{path…}`.
 * @returns `undefined` for any other URL.
 * Source: docs/reference/application-api.md#proxy-paths.
 */
export function findProxyPath(url: string): ProxyPath | undefined {
  const route = PROXY_ROUTE.exec(url);
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

const FRAMEWORK_CLIENT = 'v1/oauth/';
const FRAMEWORK_CLIENT_PATHS: ReadonlySet<string> = new Set([
  `${FRAMEWORK_CLIENT}app-attest/challenge`,
  `${FRAMEWORK_CLIENT}app-attest/register`,
  `${FRAMEWORK_CLIENT}token`,
]);

/**
 * Whether the framework's client signs in here: the path is no provider's.
 *
 * Source: docs/reference/application-api.md#framework-client.
 */
export function isFrameworkClientPath({ path }: ProxyPath): boolean {
  return path.startsWith(FRAMEWORK_CLIENT) && FRAMEWORK_CLIENT_PATHS.has(path);
}

/** Parts of a named endpoint's URL, as sent. */
export interface EndpointPath {
  readonly appId: string;
  readonly slug: string;
}

/**
 * Splits a named endpoint's URL without decoding.
 *
 * @param url request target, possibly `/v1/apps/{app}/endpoints/{slug}`.
 * @returns `undefined` for any other URL.
 */
export function findEndpointPath(url: string): EndpointPath | undefined {
  const route = ENDPOINT_ROUTE.exec(url);
  return route === null ? undefined : { appId: route[1] ?? '', slug: route[2] ?? '' };
}

/** The refusal (404) of a URL that the router matched to a proxy route only after decoding an escape. */
export function escapedRoute(): GatewayError {
  return new GatewayError('invalid_request', { status: 404, message: 'Route not found', reason: 'route_escaped' });
}
