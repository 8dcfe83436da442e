import { applyDecorators, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiExcludeEndpoint } from '@nestjs/swagger';
import { ClientOriginGuard } from '../accounts/csrf/client-origin.guard.js';
import { Access } from '../common/http/access.js';
import { McpGuard } from './mcp.guard.js';

/**
 * A route for AI clients: on the console's host, with a bearer. It is not in the OpenAPI document.
 *
 * Source: docs/reference/management-api.md#mcp-endpoint.
 */
export function McpAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'mcp', consoleHost: true }),
    RouteConfig({ consoleHost: true }),
    UseGuards(ClientOriginGuard, McpGuard),
    ApiExcludeEndpoint(),
  );
}
