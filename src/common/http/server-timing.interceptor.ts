import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Observable, tap } from 'rxjs';
import { SERVER_TIMING, serverTimingOf } from './gateway-request.js';

/**
 * Adds `Server-Timing` to successful responses of the routes that promise it. The filter adds it to error responses,
 * because a guard may refuse before any interceptor runs.
 */
@Injectable()
export class ServerTimingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    return next.handle().pipe(
      tap(() => {
        const timing = serverTimingOf(http.getRequest<FastifyRequest>());
        if (timing !== undefined) void http.getResponse<FastifyReply>().header(SERVER_TIMING, timing);
      }),
    );
  }
}
