import type { ServerResponse } from 'node:http';
import type { Metrics } from './metrics.js';

/** A response below this status is not a refusal, even if an error followed its head. */
const FIRST_ERROR_STATUS = 400;

/**
 * Counts requests at the HTTP server, including those the framework does not handle.
 *
 * @returns a function to call once per request, before its response. All responses share one listener.
 */
export function requestCounter(metrics: Metrics): (response: ServerResponse) => void {
  const open = metrics.openRequests.of();
  function ended(this: ServerResponse): void {
    open.add(-1);
    const status = this.headersSent ? this.statusCode : 0;
    const isAnswer = status > 0 && status < FIRST_ERROR_STATUS;
    const code = isAnswer ? '' : (this.req.refusedWith ?? '');
    metrics.requestEnded(routeKindOf(this.req.url ?? ''), status, code);
  }
  return (response) => {
    open.add();
    response.on('close', ended);
  };
}

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
