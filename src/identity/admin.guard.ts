import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Access } from '../common/http/access.js';
import { AdminAuthentication } from './admin-authentication.service.js';
import { requirePermission } from './admin-permission.rules.js';
import { requireAdmin } from './admin-principal.js';

/** Proves who calls a management route and puts the answer on the request; says nothing about what they may do. */
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

/** Judges role, kind of credential and grant against the route's declaration; runs after an own-app check. */
@Injectable()
export class AdminRoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws forbidden, session_required, grant_insufficient as `requirePermission` says. */
  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.getAllAndOverride(Access, [context.getHandler(), context.getClass()]);
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    requirePermission(requireAdmin(request), access ?? {});
    return true;
  }
}

/** Proves a signed-in person, whether or not they belong to an organization. */
@Injectable()
export class PersonGuard implements CanActivate {
  constructor(private readonly authentication: AdminAuthentication) {}

  /** @throws auth_required nobody is signed in; session_required a key or connection. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    request.person = await this.authentication.person(request, http.getResponse());
    return true;
  }
}

/** Proves who calls, be it a key or a signed-in person, whether or not that person belongs to an organization. */
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
