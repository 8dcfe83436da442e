import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { cutAnswer } from '../http/connections/cut-answer.js';
import type { GatewayRequest } from '../http/gateway-request.js';
import { errorEnvelope, refusalHeaders } from './error-envelope.js';
import { ServiceTrouble, toGatewayError } from './framework-error.rules.js';
import type { GatewayError } from './gateway-error.js';
import { GatewayErrorLog } from './gateway-error-log.js';

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
