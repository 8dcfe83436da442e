import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requireAdmin } from '../accounts/access/admin-principal.js';
import type { AppRow } from './app.entity.js';
import { AppDirectoryService } from './app-directory.service.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `OwnAppGuard`. */
    ownApp?: AppRow;
  }
}

/** Finds the application of a management route in the caller's account. It runs before the role check. */
@Injectable()
export class OwnAppGuard implements CanActivate {
  constructor(private readonly apps: AppDirectoryService) {}

  /** @throws app_not_found */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest<{ Params: { app: string } }>>();
    request.ownApp = await this.apps.requireOwn(requireAdmin(request).organizationId, request.params.app);
    return true;
  }
}

/**
 * The application that the guard found.
 *
 * @throws Error when the guard did not run: the route lacks its access decorator, a defect (500).
 */
export function requireOwnApp(request: FastifyRequest): AppRow {
  if (request.ownApp === undefined) throw new Error('No own-app guard ran before this management route.');
  return request.ownApp;
}
