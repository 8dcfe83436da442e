import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AdminAuthentication } from '../accounts/access/admin-authentication.service.js';
import { ConsoleOrigin } from '../accounts/csrf/csrf-origins.js';
import { GatewayError } from '../common/errors/gateway-error.js';

/** Where clients learn which authorization server issues tokens for this endpoint. Source: RFC 9728 3.1. */
const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource/mcp';
const CHALLENGE = 'www-authenticate';

/**
 * Authenticates AI clients by the bearer in `Authorization`, never by a cookie, and sets `request.admin`. Every kind of
 * bearer that the endpoint accepts is decided here.
 *
 * Source: docs/reference/management-api.md#mcp-endpoint.
 */
@Injectable()
export class McpGuard implements CanActivate {
  readonly #metadataUrl: string | undefined;

  constructor(
    private readonly admins: AdminAuthentication,
    origin: ConsoleOrigin,
  ) {
    this.#metadataUrl = origin.issuer && `${origin.issuer}${RESOURCE_METADATA_PATH}`;
  }

  /** @throws auth_required no bearer, or an invalid one, with the challenge of RFC 9728. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    try {
      request.admin = await this.admins.bearerOwner(request.headers.authorization, { at: 'mcp', source: 'mcp' });
      return true;
    } catch (error) {
      throw this.withMetadata(error);
    }
  }

  private withMetadata(error: unknown): unknown {
    const challenge = error instanceof GatewayError && error.headers?.[CHALLENGE];
    if (!challenge || this.#metadataUrl === undefined) return error;
    return new GatewayError('auth_required', {
      reason: error.reason,
      headers: { [CHALLENGE]: `${challenge}, resource_metadata="${this.#metadataUrl}"` },
    });
  }
}
