/** The whole address of a named endpoint; its query is no part of the request. */
const ROUTE = /^\/v1\/apps\/([^/?#]+)\/endpoints\/([^/?#]+)(?:[?#]|$)/;

/** The parts of a named endpoint's URL, verbatim as sent. */
export interface EndpointPath {
  readonly appId: string;
  readonly slug: string;
}

/**
 * Takes a named endpoint's URL apart without decoding anything.
 *
 * @param url request target, perhaps `/v1/apps/{app}/endpoints/{slug}`.
 * @returns `undefined` for any other URL.
 */
export function findEndpointPath(url: string): EndpointPath | undefined {
  const route = ROUTE.exec(url);
  return route === null ? undefined : { appId: route[1] ?? '', slug: route[2] ?? '' };
}
