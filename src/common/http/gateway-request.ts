import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { ErrorCode } from '../errors/error-catalogue.js';
import { RequestTimings } from './request-timings.js';

/** What our own code hangs on a request. */
declare module 'fastify' {
  interface FastifyRequest {
    /** Present on routes whose answers carry `Server-Timing`. */
    timings?: RequestTimings;
  }
}

declare module 'http' {
  interface IncomingMessage {
    /** The code of this request's refusal, once that is logged: no refusal is logged twice. */
    refusedWith?: ErrorCode;
  }
}

/** What our code needs of a request, whether the framework brought it or the proxy's own door. */
export interface GatewayRequest {
  readonly raw: IncomingMessage;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  timings?: RequestTimings;
}

const APP_ROUTE = /^\/v1\/(?:admin\/)?apps\/([^/?]+)/;
const MAX_APP_VERSION_CHARACTERS = 64;
/** Source: docs/reference/application-api.md#server-timing. */
const TIMED_ROUTE = /^\/v1\/apps\/[^/?]+\/(?:proxy|endpoints)\//;

/** The path without its query, as it was sent. */
export function pathOf({ raw }: Pick<GatewayRequest, 'raw'>): string {
  const url = raw.url ?? '/';
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

/** The application a route names, or `undefined` off application routes. */
export function appOf(request: GatewayRequest): string | undefined {
  return APP_ROUTE.exec(request.raw.url ?? '')?.[1];
}

/** The `X-App-Version` sent, cut to 64 characters, or `undefined`. */
export function appVersionOf(request: GatewayRequest): string | undefined {
  const value = request.headers['x-app-version'];
  const single = Array.isArray(value) ? value[0] : value;
  return single ? single.slice(0, MAX_APP_VERSION_CHARACTERS) : undefined;
}

/**
 * The `Server-Timing` text of a refusal: what was measured so far, also where a timed route was refused before anything
 * was; `undefined` on other routes.
 */
export function serverTimingOf(request: GatewayRequest): string | undefined {
  if (request.timings) return request.timings.header();
  return TIMED_ROUTE.test(request.raw.url ?? '') ? new RequestTimings().header() : undefined;
}
