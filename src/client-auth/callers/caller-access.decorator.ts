import { applyDecorators, createParamDecorator, UseGuards } from '@nestjs/common';
import { ApiHeader, ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Access } from '../../common/http/access.js';
import { DEFAULT_USER_HEADER } from '../../common/http/gateway-request.js';
import { AppVersionHeader, Fails } from '../../common/http/openapi.decorators.js';
import { CallerGuard, Needs } from './caller.guard.js';
import { type CallerNeeds, requireCaller } from './caller.js';

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

/** Documents the request headers of callers besides the credential. */
function CallerHeaders({ appVersion }: CallerNeeds): MethodDecorator {
  return applyDecorators(
    AppVersionHeader(appVersion === 'optional' ? undefined : 'Required with a gateway token.'),
    ApiHeader({
      name: DEFAULT_USER_HEADER,
      required: false,
      description:
        'The user of the call. Required where the application’s `authentication.end_user.source` is `header`; `end_user.header` may give it another name.',
      schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
    }),
  );
}
