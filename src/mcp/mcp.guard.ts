import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { McpAuthentication } from './mcp-authentication.service.js';

/** Authenticates the caller and sets `request.admin`. */
@Injectable()
export class McpGuard implements CanActivate {
  constructor(private readonly authentication: McpAuthentication) {}

  /** @throws auth_required as `McpAuthentication`. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.admin = await this.authentication.authenticate(request.headers.authorization);
    return true;
  }
}
