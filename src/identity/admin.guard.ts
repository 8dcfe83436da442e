import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Access } from '../common/http/access.js';
import { actionSourceOf, managementKeyRefused, readManagementKey } from './admin-credential.rules.js';
import { requirePermission } from './admin-permission.rules.js';
import { requireAdmin } from './admin-principal.js';
import { ManagementKeysService } from './management-keys.service.js';

/** Proves who calls a management route and puts the answer on the request; says nothing about what they may do. */
@Injectable()
export class AdminCredentialGuard implements CanActivate {
  constructor(private readonly keys: ManagementKeysService) {}

  /** @throws auth_required with the challenge of RFC 6750. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = readManagementKey(request.headers.authorization);
    const admin = await this.keys.authenticate(key, actionSourceOf(request.headers['x-client']));
    if (admin === undefined) throw managementKeyRefused();
    request.admin = admin;
    return true;
  }
}

/** Judges role and grant against the route's declaration; runs after the credential, and after an own-app check. */
@Injectable()
export class AdminRoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  /** @throws forbidden, grant_insufficient as `requirePermission` says. */
  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.getAllAndOverride(Access, [context.getHandler(), context.getClass()]);
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    requirePermission(requireAdmin(request), access?.needs ?? 'write');
    return true;
  }
}
