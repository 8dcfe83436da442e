import { applyDecorators } from '@nestjs/common';
import { Reflector } from '@nestjs/core';

/** Who may call a route. `role` is the least role; `needs` the least grant of a key (contract-admin 6.3). */
export interface AccessDeclaration {
  readonly scheme: 'public' | 'management' | 'caller' | 'metrics';
  readonly needs?: 'read' | 'write';
  /** The route names an application that must be the caller's own. */
  readonly ownApp?: boolean;
}

/** The declaration every route must carry; the service does not start with a route that lacks one. */
export const Access = Reflector.createDecorator<AccessDeclaration>();

/** A route anyone may call. */
export function PublicAccess(): MethodDecorator & ClassDecorator {
  return applyDecorators(Access({ scheme: 'public' }));
}
