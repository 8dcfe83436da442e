import { Controller, Get, Header, HttpCode, Options } from '@nestjs/common';
import { GRANTS } from '../../accounts/access/admin-principal.js';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { Environment } from '../../platform/config/environment.js';
import { OAuthAccess } from './oauth.guard.js';

/** Anybody may read the documents, from any page. */
const ANY_ORIGIN = ['access-control-allow-origin', '*'] as const;
const ONE_HOUR = ['cache-control', 'public, max-age=3600'] as const;

/**
 * The documents by which clients find the authorization server.
 *
 * Source: RFC 9728 2, RFC 8414 2, docs/reference/management-api.md#oauth-authorization.
 */
@Controller('.well-known')
export class OAuthMetadataController {
  constructor(
    private readonly origin: ConsoleOrigin,
    private readonly environment: Environment,
  ) {}

  @Get('oauth-protected-resource')
  @OAuthAccess()
  @Header(...ANY_ORIGIN)
  @Header(...ONE_HOUR)
  resource(): object {
    return this.resourceAt('');
  }

  @Get('oauth-protected-resource/mcp')
  @OAuthAccess()
  @Header(...ANY_ORIGIN)
  @Header(...ONE_HOUR)
  mcpResource(): object {
    return this.resourceAt('/mcp');
  }

  @Get('oauth-authorization-server')
  @OAuthAccess()
  @Header(...ANY_ORIGIN)
  @Header(...ONE_HOUR)
  server(): object {
    const issuer = this.origin.url;
    return {
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      revocation_endpoint_auth_methods_supported: ['none'],
      scopes_supported: [...GRANTS],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: this.environment.OAUTH_CLIENT_METADATA_ENABLED,
    };
  }

  @Options(['oauth-protected-resource', 'oauth-protected-resource/mcp', 'oauth-authorization-server'])
  @OAuthAccess()
  @HttpCode(204)
  @Header(...ANY_ORIGIN)
  @Header('access-control-allow-methods', 'GET')
  @Header('access-control-allow-headers', '*')
  @Header('access-control-max-age', '3600')
  preflight(): void {
    // The headers are the answer.
  }

  private resourceAt(path: string): object {
    const issuer = this.origin.url;
    return {
      resource: `${issuer}${path}`,
      authorization_servers: [issuer],
      scopes_supported: [...GRANTS],
      bearer_methods_supported: ['header'],
    };
  }
}
