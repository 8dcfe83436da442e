import type { ServerResponse } from 'node:http';
import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Clock } from '../../common/clock.js';
import { RequestTimings } from '../../common/http/gateway-request.js';
import { CrossOrigin } from '../origins/cross-origin.service.js';
import type { Caller, CallerNeeds, CallerRequest } from './caller.js';
import { type CallAddress, CallerAuthentication } from './caller-authentication.service.js';

interface CallerRoute {
  readonly app: string;
  readonly provider?: string;
}

/** The argument of the route's access decorator. */
export const Needs = Reflector.createDecorator<CallerNeeds>();

/** Authenticates the caller. It makes no other decision and writes nothing. */
@Injectable()
export class CallerGuard implements CanActivate {
  constructor(
    private readonly authentication: CallerAuthentication,
    private readonly clock: Clock,
    private readonly reflector: Reflector,
    private readonly crossOrigin: CrossOrigin,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    // Responses to callers are private, including refusals.
    void http.getResponse<FastifyReply>().header('cache-control', 'no-store');
    const request = http.getRequest<FastifyRequest<{ Params: CallerRoute }>>();
    const { app, provider } = request.params;
    const needs = this.reflector.get(Needs, context.getHandler());
    request.caller = await this.authentication.authenticate(request, { ...needs, appId: app, providerSlug: provider });
    return true;
  }

  /**
   * Authenticates the caller of a request outside the framework's routes, records the duration as `auth`, and sets the
   * headers of `CrossOrigin` on the answer.
   *
   * @throws see `CallerAuthentication.authenticate`.
   */
  async prove(request: CallerRequest, address: CallAddress, response: ServerResponse): Promise<Caller> {
    const timings = new RequestTimings();
    request.timings = timings;
    const startedMs = this.clock.monotonicMs();
    try {
      const app = this.crossOrigin.find(address.appId, response);
      request.caller = await this.authentication.authenticate(request, address, app);
      return request.caller;
    } finally {
      timings.authMs = this.clock.monotonicMs() - startedMs;
    }
  }
}
