import { applyDecorators, type CanActivate, createParamDecorator, type Type, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Access, type AccessDeclaration } from '../common/http/access.js';
import { Fails } from '../common/http/openapi.decorators.js';
import { AdminCredentialGuard, AdminRoleGuard } from './admin.guard.js';
import type { AdminNeed } from './admin-permission.rules.js';
import { requireAdmin } from './admin-principal.js';

/** A management route: `read` for every member and grant, `write` for owners and admins with the `manage` grant. */
export function AdminAccess(needs: AdminNeed): MethodDecorator {
  return ManagementAccess({ scheme: 'management', needs });
}

/**
 * The parts of every management access decorator: the declaration, the guards in their order, and the OpenAPI words.
 *
 * @param between guards that run after the credential is proven and before role and grant are judged, such as "this
 * application is yours" (contract-admin 0.3).
 */
export function ManagementAccess(
  access: AccessDeclaration & { readonly scheme: 'management' },
  ...between: readonly Type<CanActivate>[]
): MethodDecorator {
  return applyDecorators(
    Access(access),
    UseGuards(AdminCredentialGuard, ...between, AdminRoleGuard),
    ApiSecurity('ManagementBearer'),
    Fails('auth_required', 'forbidden', 'grant_insufficient'),
  );
}

/** The proven caller, as a handler's argument: `@Admin() admin: AdminPrincipal`. */
export const Admin = createParamDecorator((_data: undefined, context) =>
  requireAdmin(context.switchToHttp().getRequest<FastifyRequest>()),
);
