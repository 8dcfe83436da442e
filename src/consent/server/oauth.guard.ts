import { applyDecorators, type CanActivate, Injectable, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { ClientOriginGuard } from '../../accounts/csrf/client-origin.guard.js';
import { ConsoleOrigin } from '../../accounts/csrf/csrf-origins.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { Access } from '../../common/http/access.js';

/** Source: docs/reference/management-api.md#oauth-tokens. */
const MAX_FORM_BYTES = 16 * 1024;

/** Answers 404 while there is no authorization server. */
@Injectable()
export class OAuthEnabledGuard implements CanActivate {
  constructor(private readonly origin: ConsoleOrigin) {}

  /** @throws not_found */
  canActivate(): boolean {
    if (this.origin.issuer !== undefined) return true;
    throw new GatewayError('not_found', {
      message: 'The authorization server is disabled; the operator enables it with PUBLIC_URL and OAUTH_ENABLED.',
      reason: 'oauth_off',
    });
  }
}

/** A public route of the authorization server, on the console's host. It is not in the OpenAPI document. */
export function OAuthAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'public', consoleHost: true }),
    RouteConfig({ consoleHost: true }),
    UseGuards(OAuthEnabledGuard),
    ApiExcludeEndpoint(),
  );
}

/** As `OAuthAccess`, for a form that a client sends. */
export function OAuthFormAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'public', consoleHost: true }),
    RouteConfig({ consoleHost: true, maxBodyBytes: MAX_FORM_BYTES, bodyTooLargeCode: 'invalid_request' }),
    UseGuards(OAuthEnabledGuard, ClientOriginGuard),
    ApiExcludeEndpoint(),
  );
}
