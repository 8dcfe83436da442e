import { applyDecorators, createParamDecorator, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Access } from '../common/http/access.js';
import { Fails } from '../common/http/openapi.decorators.js';
import { CallerGuard, Needs } from './caller.guard.js';
import { type CallerNeeds, requireCaller } from './caller.js';
import { CallerHeaders } from './caller-headers.decorator.js';

/** A route for callers of an application: by gateway token, or by API key if the application accepts one. */
export function CallerAccess(needs: CallerNeeds = {}): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'caller' }),
    Needs(needs),
    UseGuards(CallerGuard),
    ApiSecurity('GatewayBearer'),
    CallerHeaders(needs),
    Fails('invalid_request', 'auth_required', 'app_disabled', 'app_not_found', 'internal_error', 'service_unavailable'),
  );
}

/** The authenticated caller as a handler argument: `@ProvenCaller() caller: Caller`. */
export const ProvenCaller = createParamDecorator((_data: undefined, context) =>
  requireCaller(context.switchToHttp().getRequest<FastifyRequest>()),
);
