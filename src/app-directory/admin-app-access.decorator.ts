import { createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ManagementAccess } from '../identity/admin-access.decorator.js';
import type { AdminNeed } from '../identity/admin-permission.rules.js';
import { OwnAppGuard, requireOwnApp } from './own-app.guard.js';

/**
 * A management route below `apps/:app`: credential, then the application is the caller's own, then role and grant, so
 * that a foreign application cannot be told from a missing one. Name `app_not_found` among what the route fails with.
 *
 * Source: docs/reference/management-api.md#order-of-checks.
 */
export function AdminAppAccess(needs: AdminNeed): MethodDecorator {
  return ManagementAccess({ scheme: 'management', needs, ownApp: true }, OwnAppGuard);
}

/** The application the route names, as a handler's argument: `@OwnApp() app: AppRow`. */
export const OwnApp = createParamDecorator((_data: undefined, context) =>
  requireOwnApp(context.switchToHttp().getRequest<FastifyRequest>()),
);
