import { Injectable } from '@nestjs/common';
import { AdminAuthentication } from '../accounts/access/admin-authentication.service.js';
import type { AdminPrincipal } from '../accounts/access/admin-principal.js';
import { ConsoleOrigin } from '../accounts/csrf/csrf-origins.js';
import { GatewayError } from '../common/errors/gateway-error.js';

/** Where clients learn which authorization server issues tokens for this endpoint. Source: RFC 9728 3.1. */
const RESOURCE_METADATA_PATH = '/.well-known/oauth-protected-resource/mcp';
const CHALLENGE = 'www-authenticate';

/**
 * Authenticates AI clients by the bearer in `Authorization`, never by a cookie. Every kind of bearer that the endpoint
 * accepts is decided here.
 *
 * Source: docs/reference/management-api.md#mcp-endpoint.
 */
@Injectable()
export class McpAuthentication {
  readonly #metadataUrl: string | undefined;

  constructor(
    private readonly admins: AdminAuthentication,
    origin: ConsoleOrigin,
  ) {
    this.#metadataUrl = origin.issuer && `${origin.issuer}${RESOURCE_METADATA_PATH}`;
  }

  /** @throws auth_required no bearer, or an invalid one, with the challenge of RFC 9728. */
  async authenticate(authorization: string | undefined): Promise<AdminPrincipal> {
    try {
      return await this.admins.bearerOwner(authorization, { at: 'mcp', source: 'mcp' });
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
