import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cutAnswer } from '../http/connections/cut-answer.js';
import { errorEnvelope, refusalHeaders } from './error-answers.js';
import { ServiceTrouble, toGatewayError } from './framework-error.rules.js';
import { GatewayErrorLog } from './gateway-error-log.js';

/** Converts every error before the first response byte into an error response. */
@Catch()
@Injectable()
export class GatewayErrorFilter implements ExceptionFilter {
  constructor(
    private readonly errorLog: GatewayErrorLog,
    private readonly trouble: ServiceTrouble,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.refuse(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), thrown);
  }

  /** Sends an error response and logs it once. Does nothing when the response has begun. */
  refuse(request: FastifyRequest, reply: FastifyReply, thrown: unknown): void {
    const error = toGatewayError(thrown, (unknown) => this.trouble.isServiceTrouble(unknown));
    this.errorLog.write(request, error);
    if (reply.raw.headersSent) {
      cutAnswer(reply.raw);
      return;
    }
    void reply.code(error.status).headers(refusalHeaders(request, error)).send(errorEnvelope(error));
  }
}
