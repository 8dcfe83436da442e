import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { cutAnswer } from '../http/connections/cut-answer.js';
import { type GatewayRequest, SERVER_TIMING, serverTimingOf } from '../http/gateway-request.js';
import { ServiceTrouble, toGatewayError } from './framework-error.rules.js';
import type { GatewayError } from './gateway-error.js';
import { GatewayErrorLog } from './gateway-error-log.js';

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

/** Sends error responses outside the framework, with the filter's envelope, log line and headers. */
@Injectable()
export class Refusals {
  constructor(
    private readonly errorLog: GatewayErrorLog,
    private readonly trouble: ServiceTrouble,
  ) {}

  /** Refuses with the error of any thrown value; cuts a response that has begun. */
  answerThrown(request: GatewayRequest, response: ServerResponse, thrown: unknown): void {
    const error = toGatewayError(thrown, (unknown) => this.trouble.isServiceTrouble(unknown));
    if (!response.headersSent) {
      this.answer(request, response, error);
      return;
    }
    this.errorLog.write(request, error);
    cutAnswer(response);
  }

  /** Sends the complete error response. The response head must not have been sent. */
  answer(request: GatewayRequest, response: ServerResponse, error: GatewayError): void {
    this.errorLog.write(request, error);
    if (response.destroyed) return;
    response.writeHead(error.status, refusalHeaders(request, error));
    response.end(errorEnvelope(error));
  }
}
