import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ErrorCode } from '../errors/error-catalogue.js';

/** Properties that the gateway adds to a request. */
declare module 'fastify' {
  interface FastifyRequest {
    /** Present on routes whose responses carry `Server-Timing`. */
    timings?: RequestTimings;
  }
}

declare module 'http' {
  interface IncomingMessage {
    /** The error code of this request, once logged; prevents a second log line. */
    refusedWith?: ErrorCode;
  }
}

/** The parts of a request that shared code uses, from the framework or from the proxy's own listener. */
export interface GatewayRequest {
  readonly raw: IncomingMessage;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  timings?: RequestTimings;
}

/**
 * Default header of the end user that a trusted backend names. Source:
 * docs/reference/application-api.md#end-user-header.
 */
export const DEFAULT_USER_HEADER = 'x-end-user-id';
/** Source: docs/reference/accounting.md#groups-and-runs. */
export const RUN_ID_HEADER = 'x-run-id';
export const RUN_BUDGET_HEADER = 'x-run-budget-usd';
const APP_ROUTE = /^\/v1\/(?:admin\/)?apps\/([^/?]+)/;
const MAX_APP_VERSION_CHARACTERS = 64;
const NOT_OF_VERSION = /[^A-Za-z0-9._+\-() ]/g;
/** Source: docs/reference/application-api.md#server-timing. */
const TIMED_ROUTE = /^\/v1\/apps\/[^/?]+\/(?:endpoints|proxy(?!\/[^/?]+\/v1\/oauth\/(?:app-attest\/|token)))\//;

/** The path without its query, as sent. */
export function pathOf({ raw }: Pick<GatewayRequest, 'raw'>): string {
  const url = raw.url ?? '/';
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** The application of the route; `undefined` outside application routes. */
export function appOf(request: GatewayRequest): string | undefined {
  return APP_ROUTE.exec(request.raw.url ?? '')?.[1];
}

/** The `X-App-Version` header as it is recorded. */
export function appVersionOf(request: GatewayRequest): string | undefined {
  const value = request.headers['x-app-version'];
  const single = Array.isArray(value) ? value[0] : value;
  return single ? recordedVersion(single) : undefined;
}

/**
 * A version of an app as it is recorded: at most 64 characters, with a question mark for characters other than letters,
 * digits, blanks and `. _ + - ( )`: AI clients and people read the records.
 */
export function recordedVersion(version: string): string {
  return version.slice(0, MAX_APP_VERSION_CHARACTERS).replace(NOT_OF_VERSION, '?');
}

/**
 * The `Server-Timing` text of an error response: the measurements so far, or zeros for a timed route that was refused
 * before any; `undefined` on other routes.
 */
export function serverTimingOf(request: GatewayRequest): string | undefined {
  if (request.timings) return request.timings.header();
  return TIMED_ROUTE.test(request.raw.url ?? '') ? new RequestTimings().header() : undefined;
}

/** Milliseconds per stage before the provider's response arrived. */
export class RequestTimings {
  authMs = 0;
  limiterMs = 0;
  providerTtfbMs = 0;

  /** The text of the `Server-Timing` header: three metrics with one decimal each. */
  header(): string {
    return `auth;dur=${this.authMs.toFixed(1)}, limiter;dur=${this.limiterMs.toFixed(1)}, provider_ttfb;dur=${this.providerTtfbMs.toFixed(1)}`;
  }
}

export const SERVER_TIMING = 'server-timing';
