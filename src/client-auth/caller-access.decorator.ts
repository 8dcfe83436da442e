import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
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
