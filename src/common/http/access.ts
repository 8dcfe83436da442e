import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

/**
 * Who may call a route, and from where. `person` is whoever is signed in, also one without an organization; `identity`
 * is such a person or the holder of a key.
 * Source: docs/reference/management-api.md#roles-and-grants,
 * docs/reference/management-api.md#console-requests-and-origins.
 */
export interface AccessDeclaration {
  readonly scheme: 'public' | 'management' | 'caller' | 'metrics' | 'person' | 'identity';
  /** Not from another site's page: such a request is refused before its body is read, whoever makes it. */
  readonly firstParty?: boolean;
  /** Only with the console's own origin: a request that names none is refused as well. */
  readonly exactOrigin?: boolean;
  /** `read`: every role and grant; `write`: owners and admins with the `manage` grant. */
  readonly needs?: 'read' | 'write';
  /** The least role of a route that asks for more than `needs` says. */
  readonly role?: 'admin' | 'owner';
  /** The only kind of credential that may. */
  readonly credential?: 'session' | 'key';
  /** The route names an application that must be the caller's own. */
  readonly ownApp?: boolean;
}

/** The declaration every route must carry; the service does not start with a route that lacks one. */
export const Access = Reflector.createDecorator<AccessDeclaration>();

/** A route anyone may call. */
export function PublicAccess(): MethodDecorator & ClassDecorator {
  return applyDecorators(Access({ scheme: 'public' }));
}
