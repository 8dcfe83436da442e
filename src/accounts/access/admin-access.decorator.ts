import { applyDecorators, type CanActivate, createParamDecorator, type Type, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader, ApiSecurity } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import type { ErrorCode } from '../../common/errors/error-catalogue.js';
import { Access, type AccessDeclaration } from '../../common/http/access.js';
import { Fails } from '../../common/http/openapi.decorators.js';
import { CONSOLE_HEADER } from '../csrf/csrf-origins.js';
import { AdminCredentialGuard, AdminRoleGuard, IdentityGuard, PersonGuard } from './admin.guard.js';
import type { AdminNeed, AdminRequirements } from './admin-access.rules.js';
import { requireAdmin, requireIdentity, requirePerson } from './admin-principal.js';

/** Bodies of the console's own routes are a few short texts. */
const MAX_BROWSER_BODY_BYTES = 16 * 1024;

/** Source: docs/reference/management-api.md#terminal-login. */
const MAX_HANDOFF_BODY_BYTES = 65_536;

/** When `x-console-request` is required, for the OpenAPI document. */
const CONSOLE_HEADER_USES = {
  session: { required: true, description: 'Proves that a page of the console sends the session’s cookie.' },
  withSession: { required: false, description: 'Required with a session’s cookie.' },
  withOrigin: { required: false, description: 'Not needed: `Origin` identifies the page.' },
  withoutOrigin: {
    required: false,
    description: 'Required of writes with a session’s cookie and without `Origin`.',
  },
} as const;

/**
 * A management route: `read` for every member and grant, `write` for owners and admins with the `manage` grant.
 *
 * @param requirements a minimum role, a required credential type, or the console's origin as in `PersonAccess`.
 */
export function AdminAccess(
  needs: AdminNeed,
  requirements: Omit<AdminRequirements, 'needs'> & Pick<AccessDeclaration, 'firstParty' | 'exactOrigin'> = {},
): MethodDecorator {
  return ManagementAccess({ scheme: 'management', needs, ...requirements });
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

/**
 * A route for the console's pages that terminals and AI clients open: it needs the console's host and its exact origin,
 * and proves the rest by its body. A larger body is 413 `invalid_request`.
 */
export function ConsolePageAccess(): MethodDecorator {
  return applyDecorators(
    Access({ scheme: 'public', firstParty: true, exactOrigin: true, consoleHost: true }),
    RouteConfig({
      firstParty: 'exactOrigin',
      consoleHost: true,
      maxBodyBytes: MAX_HANDOFF_BODY_BYTES,
      bodyTooLargeCode: 'invalid_request',
    }),
    OriginHeader({ required: true }),
    Fails('forbidden', 'not_found', 'invalid_request', 'invalid_request@413'),
  );
}

/** Documents that the console session is optional on a route. */
export function OptionalSession(): MethodDecorator {
  return applyDecorators(ApiSecurity('ConsoleSession'), ApiSecurity({}));
}

/**
 * As `ConsolePageAccess`, for steps of a page that also take a session; the exact `Origin` replaces the console header.
 */
export function ConsoleStepAccess(): MethodDecorator {
  return applyDecorators(OptionalSession(), ConsoleHeader('withOrigin'), ConsolePageAccess());
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
    ...(access.firstParty ? [FirstPartyOnly(access)] : []),
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

/** Documents the header `x-console-request`. */
function ConsoleHeader(use: keyof typeof CONSOLE_HEADER_USES): MethodDecorator {
  return ApiHeader({ name: CONSOLE_HEADER, ...CONSOLE_HEADER_USES[use], schema: { type: 'string', enum: ['1'] } });
}

/** Documents the header `Origin`. Browsers send it; a foreign origin is refused. */
function OriginHeader({ required }: { readonly required: boolean }): MethodDecorator {
  return ApiHeader({
    name: 'Origin',
    required,
    description: `The console’s origin; any other is refused${required ? ', and so is a request without it' : ''}. Browsers send it.`,
  });
}

/** Documents the header `X-Client`. */
function ClientLabelHeader(): MethodDecorator {
  return ApiHeader({
    name: 'X-Client',
    required: false,
    description: 'The program that uses a management key, for records only. Other values are ignored.',
    schema: { type: 'string', enum: ['cli', 'mcp'] },
  });
}
