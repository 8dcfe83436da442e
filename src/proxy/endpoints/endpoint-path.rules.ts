/** Complete path of a named endpoint; the query is ignored. */
const ROUTE = /^\/v1\/apps\/([^/?#]+)\/endpoints\/([^/?#]+)(?:[?#]|$)/;

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
  const route = ROUTE.exec(url);
  return route === null ? undefined : { appId: route[1] ?? '', slug: route[2] ?? '' };
}
