/** The parts of the API that requests are counted under. */
export type RouteKind = 'proxy' | 'endpoint' | 'auth' | 'admin' | 'me' | 'other';

const ADMIN = '/v1/admin/';
const APPS = '/v1/apps/';

/**
 * The part of the API an address belongs to, told by its beginning alone, whether or not there is such a route. Counts
 * are made for every request: nothing is parsed and nothing allocated.
 *
 * @param url path and query, as they were sent.
 */
export function routeKindOf(url: string): RouteKind {
  if (url.startsWith(ADMIN)) return 'admin';
  if (!url.startsWith(APPS)) return 'other';
  const at = url.indexOf('/', APPS.length);
  if (at < 0) return 'other';
  if (url.startsWith('/proxy/', at)) return 'proxy';
  if (url.startsWith('/endpoints/', at)) return 'endpoint';
  if (url.startsWith('/auth/', at)) return 'auth';
  return isMe(url, at) ? 'me' : 'other';
}

function isMe(url: string, at: number): boolean {
  const end = at + '/me'.length;
  return url.startsWith('/me', at) && (url.length === end || url[end] === '?');
}
