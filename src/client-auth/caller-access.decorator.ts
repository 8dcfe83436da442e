import { applyDecorators, createParamDecorator, type ExecutionContext, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Access } from '../common/http/access.js';
import { Fails } from '../common/http/openapi.decorators.js';
import { CallerGuard } from './caller.guard.js';

/** A route for an application's own callers: a gateway token, or an API key where the application takes one. */
export function CallerAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'caller' }),
    UseGuards(CallerGuard),
    ApiSecurity('GatewayBearer'),
    Fails('invalid_request', 'auth_required', 'app_disabled', 'app_not_found', 'internal_error', 'service_unavailable'),
  );
}

/** The proven caller of a route with `@CallerAccess()`, for routes that are not as hot as the proxy. */
export const ProvenCaller = createParamDecorator((_data: undefined, context: ExecutionContext) => {
  const { caller } = context.switchToHttp().getRequest<FastifyRequest>();
  if (caller === undefined) throw new Error('ProvenCaller on a route without CallerAccess');
  return caller;
});
