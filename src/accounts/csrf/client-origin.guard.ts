import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Environment } from '../../platform/config/environment.js';
import { ConsoleOrigin } from './csrf-origins.js';

/** Refuses pages of other origins than the console's and those of `MCP_ALLOWED_ORIGINS`. */
@Injectable()
export class ClientOriginGuard implements CanActivate {
  constructor(
    private readonly environment: Environment,
    private readonly origin: ConsoleOrigin,
  ) {}

  /** @throws forbidden */
  canActivate(context: ExecutionContext): boolean {
    const { headers, raw } = context.switchToHttp().getRequest<FastifyRequest>();
    const { origin } = headers;
    if (origin === undefined || this.origin.isOwn(origin, raw.socket.localPort)) return true;
    if (this.environment.MCP_ALLOWED_ORIGINS.includes(origin)) return true;
    throw new GatewayError('forbidden', {
      message: 'This origin is not allowed; the operator adds origins to `MCP_ALLOWED_ORIGINS`.',
      reason: 'foreign_origin',
    });
  }
}
