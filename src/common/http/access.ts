import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

/**
 * Which credentials a route accepts, and from which origins. `person` is a signed-in user, with or without an
 * organization; `identity` is such a user or a management key.
 * Source: docs/reference/management-api.md#roles-and-grants,
 * docs/reference/management-api.md#console-requests-and-origins.
 */
export interface AccessDeclaration {
  readonly scheme: 'public' | 'management' | 'caller' | 'metrics' | 'person' | 'identity';
  /** Refuses cross-site requests before their body is read, whatever the credential. */
  readonly firstParty?: boolean;
  /** Requires the console's own origin: a request without an origin is refused too. */
  readonly exactOrigin?: boolean;
  /** `read`: every role and grant; `write`: owners and admins with the `manage` grant. */
  readonly needs?: 'read' | 'write';
  /** The minimum role, where `needs` is not enough. */
  readonly role?: 'admin' | 'owner';
  /** The only accepted kind of credential. */
  readonly credential?: 'session' | 'key';
  /** The application in the path must be the caller's own. */
  readonly ownApp?: boolean;
}

/** The required declaration of every route; the service does not start without it. */
export const Access = Reflector.createDecorator<AccessDeclaration>();

/** A route without authentication. */
export function PublicAccess(): MethodDecorator & ClassDecorator {
  return applyDecorators(Access({ scheme: 'public' }));
}
