import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { catchError, type Observable, throwError } from 'rxjs';
import { toGatewayError } from './framework-error.rules.js';
import { GatewayErrorLog } from './gateway-error-log.js';
import { ServiceTrouble } from './service-trouble.js';

/**
 * Logs the errors of pipes, handlers and inner interceptors. The filter logs what fails before any interceptor runs:
 * guards, unknown routes, request heads and bodies that do not parse.
 */
@Injectable()
export class ErrorLogInterceptor implements NestInterceptor {
  constructor(
    private readonly errorLog: GatewayErrorLog,
    private readonly trouble: ServiceTrouble,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return next.handle().pipe(
      catchError((thrown: unknown) => {
        const error = toGatewayError(thrown, (unknown) => this.trouble.isServiceTrouble(unknown));
        this.errorLog.write(request, error);
        return throwError(() => error);
      }),
    );
  }
}
