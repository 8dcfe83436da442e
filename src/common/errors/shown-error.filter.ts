import { type ArgumentsHost, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorHeaders } from './error-answers.js';
import { ServiceTrouble, toGatewayError } from './framework-error.rules.js';
import type { GatewayError } from './gateway-error.js';
import { GatewayErrorLog } from './gateway-error-log.js';

/** Sends errors in another form than the envelope, with the status, headers and log line of every other error. */
@Injectable()
export abstract class ShownErrorFilter implements ExceptionFilter {
  protected abstract readonly contentType: string;

  constructor(
    private readonly errorLog: GatewayErrorLog,
    private readonly trouble: ServiceTrouble,
  ) {}

  /** The body of the answer. */
  protected abstract bodyOf(error: GatewayError): string;

  catch(thrown: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const error = toGatewayError(thrown, (unknown) => this.trouble.isServiceTrouble(unknown));
    this.errorLog.write(http.getRequest<FastifyRequest>(), error);
    const headers = { ...errorHeaders(error), 'content-type': this.contentType };
    void http.getResponse<FastifyReply>().code(error.status).headers(headers).send(this.bodyOf(error));
  }
}
