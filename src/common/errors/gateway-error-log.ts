import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { catchError, type Observable, throwError } from 'rxjs';
import { appOf, appVersionOf, type GatewayRequest, pathOf } from '../http/gateway-request.js';
import { Log } from '../log/log.js';
import { ServiceTrouble, toGatewayError } from './framework-error.rules.js';
import type { GatewayError } from './gateway-error.js';

/** Writes the `gateway_error` line of a refused request, once per request. */
@Injectable()
export class GatewayErrorLog {
  constructor(private readonly log: Log) {}

  /**
   * Writes exactly one line per request, with exactly the specified fields. The cause of an `internal_error` gets a
   * line of its own.
   */
  write(request: GatewayRequest, error: GatewayError): void {
    if (request.raw.refusedWith !== undefined) return;
    request.raw.refusedWith = error.code;
    this.log.event('gateway_error', {
      code: error.code,
      reason: error.reason,
      status: error.status,
      path: pathOf(request),
      method: request.method,
      app: appOf(request),
      appVersion: appVersionOf(request),
    });
    if (error.code === 'internal_error' && error.cause !== undefined) this.writeCause(request, error.cause);
  }

  /** Logs name, message and stack of an error, never its parameters; for any other value, only its type. */
  private writeCause(request: GatewayRequest, error: unknown): void {
    const known = error instanceof Error ? error : new Error(typeof error);
    this.log.event('unhandled_error', {
      path: pathOf(request),
      method: request.method,
      error: `${known.name}: ${known.message}`,
      stack: known.stack,
    });
  }
}

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
