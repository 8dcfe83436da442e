import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ConsoleOrigin } from '../accounts/csrf/csrf-origins.js';
import { GatewayError } from '../common/errors/gateway-error.js';
import { Environment } from '../platform/config/environment.js';
import { McpAuthentication } from './mcp-authentication.service.js';

/** Refuses pages of other origins, then authenticates the caller and sets `request.admin`. */
@Injectable()
export class McpGuard implements CanActivate {
  constructor(
    private readonly authentication: McpAuthentication,
    private readonly origin: ConsoleOrigin,
    private readonly environment: Environment,
  ) {}

  /** @throws forbidden an origin that is not allowed; auth_required as `McpAuthentication`. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    this.requireAllowedOrigin(request);
    request.admin = await this.authentication.authenticate(request.headers.authorization);
    return true;
  }

  private requireAllowedOrigin({ headers: { origin }, raw }: FastifyRequest): void {
    if (origin === undefined || this.origin.isOwn(origin, raw.socket.localPort)) return;
    if (this.environment.MCP_ALLOWED_ORIGINS.includes(origin)) return;
    throw new GatewayError('forbidden', {
      message: 'This origin is not allowed; the operator adds origins to `MCP_ALLOWED_ORIGINS`.',
      reason: 'foreign_origin',
    });
  }
}
