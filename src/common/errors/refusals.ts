import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { serverTimingOf } from '../http/gateway-request.js';
import { SERVER_TIMING } from '../http/request-timings.js';
import { errorEnvelope, errorHeaders } from './error-envelope.js';
import type { GatewayError } from './gateway-error.js';
import { GatewayErrorLog } from './gateway-error-log.js';

/** Refuses on an answer that the framework has handed over: same envelope, same line, same headers as the filter. */
@Injectable()
export class Refusals {
  constructor(private readonly errorLog: GatewayErrorLog) {}

  /** Writes the whole refusal. The head must not have been sent. */
  answer(request: FastifyRequest, response: ServerResponse, error: GatewayError): void {
    this.errorLog.write(request, error);
    if (response.destroyed) return;
    const headers = errorHeaders(error);
    const timing = serverTimingOf(request);
    if (timing !== undefined) headers[SERVER_TIMING] = timing;
    response.writeHead(error.status, headers);
    response.end(errorEnvelope(error));
  }
}
