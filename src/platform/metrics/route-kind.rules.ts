/** The API parts that label request counts. */
export type RouteKind = 'proxy' | 'endpoint' | 'auth' | 'admin' | 'me' | 'other';

const ADMIN = '/v1/admin/';
const APPS = '/v1/apps/';

/**
 * The API part of a URL, by prefix only, whether or not the route exists. It runs on every request, so it neither
 * parses nor allocates.
 *
 * @param url path and query, as sent.
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
