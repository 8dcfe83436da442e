import { applyDecorators } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Access } from '../common/http/access.js';

/** How long a file may be kept whose address changes with its content. */
export const YEAR_SECONDS = 31_536_000;

/** A page of the console's host, for anybody. */
export function ConsolePageAccess(): MethodDecorator {
  return applyDecorators(Access({ scheme: 'public', consoleHost: true }), RouteConfig({ consoleHost: true }));
}

export function noSuchRoute(): GatewayError {
  return new GatewayError('invalid_request', { status: 404, message: 'Route not found', reason: 'route_unknown' });
}
