import { type GatewayRequest, SERVER_TIMING, serverTimingOf } from '../http/gateway-request.js';
import type { GatewayError } from './gateway-error.js';

const JSON_TYPE = 'application/json; charset=UTF-8';

/** The body of every error response: `{error: {code, message, data?}}`. */
export function errorEnvelope(error: GatewayError): string {
  return JSON.stringify({ error: { code: error.code, message: error.message, data: error.data } });
}

/** The headers of every error response, including those of the error. */
export function errorHeaders(error: GatewayError): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': JSON_TYPE, ...error.headers };
  if (error.retryAfterSeconds !== undefined) headers['retry-after'] = String(Math.ceil(error.retryAfterSeconds));
  return headers;
}

/** As {@link errorHeaders}, with `Server-Timing` on the routes that send it. */
export function refusalHeaders(request: GatewayRequest, error: GatewayError): Record<string, string> {
  const headers = errorHeaders(error);
  const timing = serverTimingOf(request);
  if (timing !== undefined) headers[SERVER_TIMING] = timing;
  return headers;
}
