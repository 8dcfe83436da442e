import { applyDecorators, type CanActivate, createParamDecorator, type Type, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../common/errors/error-catalogue.js';
import { Access, type AccessDeclaration } from '../common/http/access.js';
import { Fails } from '../common/http/openapi.decorators.js';
import { AdminCredentialGuard, AdminRoleGuard, IdentityGuard, PersonGuard } from './admin.guard.js';
import type { AdminDemands, AdminNeed } from './admin-permission.rules.js';
import { requireAdmin, requireIdentity, requirePerson } from './admin-principal.js';
import { ClientLabelHeader, ConsoleHeader, OriginHeader } from './console-headers.decorator.js';

/** Bodies of the console's own routes are a few short texts. */
const MAX_BROWSER_BODY_BYTES = 16 * 1024;

/**
 * A management route: `read` for every member and grant, `write` for owners and admins with the `manage` grant.
 *
 * @param demands a minimum role, or a required credential type.
 */
export function AdminAccess(needs: AdminNeed, demands: Omit<AdminDemands, 'needs'> = {}): MethodDecorator {
  return ManagementAccess({ scheme: 'management', needs, ...demands });
}

/**
 * A route for a person with a console session. An organization is not required.
 *
 * @param from `firstParty`: refuses cross-site requests; `exactOrigin`: requires the console's `Origin`.
 */
export function PersonAccess(from: Pick<AccessDeclaration, 'firstParty' | 'exactOrigin'> = {}): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'person', ...from }),
    ...(from.firstParty ? [FirstPartyOnly(from)] : []),
    UseGuards(PersonGuard),
    ApiSecurity('ConsoleSession'),
    ConsoleHeader('session'),
    Fails('auth_required', 'session_required'),
  );
}

/** A route for any authenticated identity: a management key or a console session. An organization is not required. */
export function IdentityAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'identity' }),
    UseGuards(IdentityGuard),
    ...credentials(undefined),
    Fails('auth_required', 'account_expired'),
  );
}

/** A public route that refuses cross-site requests. */
export function BrowserAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'public', firstParty: true }),
    FirstPartyOnly({}),
    ConsoleHeader('withoutOrigin'),
  );
}

/** Documents that the console session is optional on a route. */
export function OptionalSession(): MethodDecorator {
  return applyDecorators(ApiSecurity('ConsoleSession'), ApiSecurity({}));
}

/** Refuses cross-site requests before the body is read. */
function FirstPartyOnly({ exactOrigin }: Pick<AccessDeclaration, 'exactOrigin'>): MethodDecorator {
  return applyDecorators(
    RouteConfig({ firstParty: exactOrigin ? 'exactOrigin' : 'ownOrNone', maxBodyBytes: MAX_BROWSER_BODY_BYTES }),
    OriginHeader({ required: exactOrigin === true }),
    Fails('forbidden', 'payload_too_large'),
  );
}

/**
 * The shared parts of the management access decorators: the declaration, the guards in order, the OpenAPI metadata.
 *
 * @param between guards that run after authentication and before the role and grant check, such as an own-app check.
 */
export function ManagementAccess(
  access: AccessDeclaration & { readonly scheme: 'management' },
  ...between: readonly Type<CanActivate>[]
): MethodDecorator {
  return applyDecorators(
    Access(access),
    UseGuards(AdminCredentialGuard, ...between, AdminRoleGuard),
    ...credentials(access.credential),
    Fails('auth_required', 'forbidden', 'grant_insufficient', ...codesOf(access)),
  );
}

/** The authenticated caller as a handler argument: `@Admin() admin: AdminPrincipal`. */
export const Admin = createParamDecorator((_data: undefined, context) =>
  requireAdmin(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** The authenticated identity as a handler argument: `@Identity() identity: AdminPrincipal | PersonPrincipal`. */
export const Identity = createParamDecorator((_data: undefined, context) =>
  requireIdentity(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** The signed-in person as a handler argument: `@Person() person: PersonPrincipal`. */
export const Person = createParamDecorator((_data: undefined, context) =>
  requirePerson(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** The accepted credentials and the headers sent with them. */
function credentials(only: AccessDeclaration['credential']): MethodDecorator[] {
  return [
    ...(only === 'session' ? [] : [ApiSecurity('ManagementBearer'), ClientLabelHeader()]),
    ...(only === 'key' ? [] : [ApiSecurity('ConsoleSession'), ConsoleHeader(only ?? 'withSession')]),
  ];
}

/** The error codes that only one credential type can cause. */
function codesOf({ credential }: AccessDeclaration): ErrorCode[] {
  if (credential === 'key') return [];
  const ofSession: ErrorCode[] = ['account_expired', 'no_eligible_organization'];
  return credential === 'session' ? [...ofSession, 'session_required'] : ofSession;
}
