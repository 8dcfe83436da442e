import { createParamDecorator } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ManagementAccess } from '../accounts/access/admin-access.decorator.js';
import type { AdminNeed } from '../accounts/access/admin-access.rules.js';
import { OwnAppGuard, requireOwnApp } from './own-app.guard.js';

/**
 * A management route below `apps/:app`. It checks the credential, then that the application belongs to the account,
 * then role and grant, so that a foreign application is indistinguishable from a missing one. The route must list
 * `app_not_found` in its `Fails`.
 *
 * Source: docs/reference/management-api.md#order-of-checks.
 */
export function AdminAppAccess(needs: AdminNeed): MethodDecorator {
  return ManagementAccess({ scheme: 'management', needs, ownApp: true }, OwnAppGuard);
}

/** The application of the route as a handler argument: `@OwnApp() app: AppRow`. */
export const OwnApp = createParamDecorator((_data: undefined, context) =>
  requireOwnApp(context.switchToHttp().getRequest<FastifyRequest>()),
);
