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
 * @param demands a higher role, or one kind of credential only.
 */
export function AdminAccess(needs: AdminNeed, demands: Omit<AdminDemands, 'needs'> = {}): MethodDecorator {
  return ManagementAccess({ scheme: 'management', needs, ...demands });
}

/**
 * A route for whoever is signed in through the console, also without an organization.
 *
 * @param from `firstParty`: not through another site's page either; `exactOrigin`: only with the console's origin.
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

/** A route for whoever proves who they are: a key, or a signed-in person, also without an organization. */
export function IdentityAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'identity' }),
    UseGuards(IdentityGuard),
    ...credentials(undefined),
    Fails('auth_required', 'account_expired'),
  );
}

/** A route anyone may call, but not through another site's page. */
export function BrowserAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'public', firstParty: true }),
    FirstPartyOnly({}),
    ConsoleHeader('withoutOrigin'),
  );
}

/** Says in the document that a route looks at the session of a browser that has one, and needs none. */
export function OptionalSession(): MethodDecorator {
  return applyDecorators(ApiSecurity('ConsoleSession'), ApiSecurity({}));
}

/** Refuses what another site's page may have sent, before the body is read. */
function FirstPartyOnly({ exactOrigin }: Pick<AccessDeclaration, 'exactOrigin'>): MethodDecorator {
  return applyDecorators(
    RouteConfig({ firstParty: exactOrigin ? 'exactOrigin' : 'ownOrNone', maxBodyBytes: MAX_BROWSER_BODY_BYTES }),
    OriginHeader({ required: exactOrigin === true }),
    Fails('forbidden', 'payload_too_large'),
  );
}

/**
 * The parts of every management access decorator: the declaration, the guards in their order, and the OpenAPI words.
 *
 * @param between guards that run after the credential is proven and before role and grant are judged, such as "this
 * application is yours".
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

/** The proven caller, as a handler's argument: `@Admin() admin: AdminPrincipal`. */
export const Admin = createParamDecorator((_data: undefined, context) =>
  requireAdmin(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** Whoever was proven, as a handler's argument: `@Identity() identity: AdminPrincipal | PersonPrincipal`. */
export const Identity = createParamDecorator((_data: undefined, context) =>
  requireIdentity(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** The signed-in person, as a handler's argument: `@Person() person: PersonPrincipal`. */
export const Person = createParamDecorator((_data: undefined, context) =>
  requirePerson(context.switchToHttp().getRequest<FastifyRequest>()),
);

/** What proves the caller, and what is sent beside it. */
function credentials(only: AccessDeclaration['credential']): MethodDecorator[] {
  return [
    ...(only === 'session' ? [] : [ApiSecurity('ManagementBearer'), ClientLabelHeader()]),
    ...(only === 'key' ? [] : [ApiSecurity('ConsoleSession'), ConsoleHeader(only ?? 'withSession')]),
  ];
}

/** What only a session can be refused with, and what only others can. */
function codesOf({ credential }: AccessDeclaration): ErrorCode[] {
  if (credential === 'key') return [];
  const ofSession: ErrorCode[] = ['account_expired', 'no_eligible_organization'];
  return credential === 'session' ? [...ofSession, 'session_required'] : ofSession;
}
