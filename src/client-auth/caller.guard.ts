import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Clock } from '../common/clock.js';
import { RequestTimings } from '../common/http/request-timings.js';
import type { Caller, CallerRequest } from './caller.js';
import { type CallAddress, CallerAuthentication } from './caller-authentication.service.js';

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
    const { app, provider } = request.params;
    await this.prove(request, { appId: app, providerSlug: provider });
    return true;
  }

  /**
   * Proves the caller of a request, for the framework's routes and for the proxy's own door alike.
   *
   * @throws see `CallerAuthentication.authenticate`.
   */
  async prove(request: CallerRequest, address: CallAddress): Promise<Caller> {
    const timings = new RequestTimings();
    request.timings = timings;
    const startedMs = this.clock.monotonicMs();
    try {
      const proven = this.authentication.authenticate(request, address);
      const caller = proven instanceof Promise ? await proven : proven;
      request.caller = caller;
      return caller;
    } finally {
      timings.authMs = this.clock.monotonicMs() - startedMs;
    }
  }
}
