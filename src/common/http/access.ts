import { applyDecorators, type INestApplication, RequestMethod, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';

/**
 * Which credentials a route accepts, and from which origins. `person` is a signed-in user, with or without an
 * organization; `identity` is such a user or a management key; `operation` is the terminal that opened an operation;
 * `mcp` is an AI client with a bearer; `instance` is another process of the deployment.
 * Source: docs/reference/management-api.md#roles-and-grants,
 * docs/reference/management-api.md#console-requests-and-origins.
 */
export interface AccessDeclaration {
  readonly scheme:
    | 'public'
    | 'management'
    | 'caller'
    | 'metrics'
    | 'person'
    | 'identity'
    | 'operation'
    | 'mcp'
    | 'instance';
  /** Refuses cross-site requests before their body is read, whatever the credential. */
  readonly firstParty?: boolean;
  /** Requires the console's own origin: a request without an origin is refused too. */
  readonly exactOrigin?: boolean;
  /** Answers 404 under any other host name than the console's. */
  readonly consoleHost?: boolean;
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

/** One route and its access declaration. */
export interface RouteAccess {
  readonly route: string;
  readonly access: AccessDeclaration;
  /** The guards of the route. */
  readonly guards: readonly unknown[];
}

/** A method of a controller, whether or not a route leads to it. */
interface ControllerMethod {
  readonly controller: Type;
  readonly prototype: object;
  readonly name: string;
}

/** The methods of all controllers. */
export function* controllerMethods(app: INestApplication): Generator<ControllerMethod> {
  const scanner = new MetadataScanner();
  for (const { metatype } of app.get(DiscoveryService).getControllers()) {
    const controller = metatype as Type;
    const { prototype } = controller;
    for (const name of scanner.getAllMethodNames(prototype)) yield { controller, prototype, name };
  }
}

/**
 * The access declarations of all routes.
 *
 * @throws Error naming each route without a declaration: the service does not start.
 */
export function listRouteAccess(app: INestApplication): readonly RouteAccess[] {
  const reflector = app.get(Reflector);
  const routes: RouteAccess[] = [];
  const undeclared: string[] = [];
  for (const { controller, prototype, name } of controllerMethods(app)) {
    const handler: unknown = Reflect.get(prototype, name);
    if (typeof handler !== 'function') continue;
    const method: unknown = Reflect.getMetadata('method', handler);
    if (typeof method !== 'number') continue;
    const paths = [Reflect.getMetadata('path', handler)].flat();
    const guards = [controller, handler].flatMap((declared) => Reflect.getMetadata('__guards__', declared) ?? []);
    const access = reflector.getAllAndOverride(Access, [handler as () => void, controller]);
    for (const path of paths) {
      const route = `${RequestMethod[method]} ${joined(Reflect.getMetadata('path', controller), path)}`;
      if (access) routes.push({ route, access, guards });
      else undeclared.push(route);
    }
  }
  if (undeclared.length > 0) throw new Error(`Routes without an access declaration: ${undeclared.join(', ')}`);
  return routes.sort((a, b) => a.route.localeCompare(b.route));
}

function joined(base: unknown, path: unknown): string {
  return `/${[base, path]
    .map((part) => String(part ?? '').replace(/^\/+|\/+$/g, ''))
    .filter((part) => part !== '')
    .join('/')}`;
}
