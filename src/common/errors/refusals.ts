import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { cutAnswer } from '../http/connections/cut-answer.js';
import type { GatewayRequest } from '../http/gateway-request.js';
import { errorEnvelope, refusalHeaders } from './error-envelope.js';
import { toGatewayError } from './framework-error.rules.js';
import type { GatewayError } from './gateway-error.js';
import { GatewayErrorLog } from './gateway-error-log.js';
import { ServiceTrouble } from './service-trouble.js';

/** Refuses where the framework has no say: same envelope, same line, same headers as the filter. */
@Injectable()
export class Refusals {
  constructor(
    private readonly errorLog: GatewayErrorLog,
    private readonly trouble: ServiceTrouble,
  ) {}

  /** Refuses for whatever was thrown; cuts an answer that has begun. */
  answerThrown(request: GatewayRequest, response: ServerResponse, thrown: unknown): void {
    const error = toGatewayError(thrown, (unknown) => this.trouble.isServiceTrouble(unknown));
    if (!response.headersSent) {
      this.answer(request, response, error);
      return;
    }
    this.errorLog.write(request, error);
    cutAnswer(response);
  }

  /** Writes the whole refusal. The head must not have been sent. */
  answer(request: GatewayRequest, response: ServerResponse, error: GatewayError): void {
    this.errorLog.write(request, error);
    if (response.destroyed) return;
    response.writeHead(error.status, refusalHeaders(request, error));
    response.end(errorEnvelope(error));
  }
}
