import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../common/clock.js';
import { RequestTimings } from '../common/http/request-timings.js';
import { CallerAuthentication } from './caller-authentication.service.js';

interface CallerRoute {
  readonly app: string;
  readonly provider?: string;
}

/** Proves the caller and marks `auth`. Decides nothing else and writes nothing. */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(
    private readonly authentication: CallerAuthentication,
    private readonly clock: Clock,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: CallerRoute }>>();
    const timings = new RequestTimings();
    request.timings = timings;
    const startedMs = this.clock.monotonicMs();
    try {
      const { app, provider } = request.params;
      request.caller = await this.authentication.authenticate(request, { appId: app, providerSlug: provider });
    } finally {
      timings.authMs = this.clock.monotonicMs() - startedMs;
    }
    return true;
  }
}
