import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Access } from '../../common/http/access.js';
import { requirePermission } from './admin-access.rules.js';
import { AdminAuthentication } from './admin-authentication.service.js';
import { requireAdmin } from './admin-principal.js';

/** Authenticates the caller of a management route and sets `request.admin`. It checks no permission. */
@Injectable()
export class AdminCredentialGuard implements CanActivate {
  constructor(private readonly authentication: AdminAuthentication) {}

  /** @throws auth_required with the challenge of RFC 6750; account_expired, no_eligible_organization for a session. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    request.admin = await this.authentication.admin(request, http.getResponse());
    return true;
  }
}

/** Checks role, credential type and grant against the route's declaration. It runs after an own-app check. */
@Injectable()
export class AdminRoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws forbidden, session_required, grant_insufficient as `requirePermission`. */
  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.getAllAndOverride(Access, [context.getHandler(), context.getClass()]);
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    requirePermission(requireAdmin(request), access ?? {});
    return true;
  }
}

/** Authenticates a signed-in person. An organization is not required. */
@Injectable()
export class PersonGuard implements CanActivate {
  constructor(private readonly authentication: AdminAuthentication) {}

  /** @throws auth_required no valid session; session_required the credential is a key or connection. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    request.person = await this.authentication.person(request, http.getResponse());
    return true;
  }
}

/** Authenticates a key or a signed-in person. An organization is not required. */
@Injectable()
export class IdentityGuard implements CanActivate {
  constructor(private readonly authentication: AdminAuthentication) {}

  /** @throws auth_required with the challenge of RFC 6750; account_expired. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const identity = await this.authentication.identity(request, http.getResponse());
    if ('grant' in identity) request.admin = identity;
    else request.person = identity;
    return true;
  }
}
