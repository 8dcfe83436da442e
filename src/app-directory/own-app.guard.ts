import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { requireAdmin } from '../identity/admin-principal.js';
import { AppDirectoryService } from './app-directory.service.js';
import type { AppRow } from './app-row.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by the own-app guard of management routes. */
    ownApp?: AppRow;
  }
}

/** Finds the application a management route names in the caller's account; runs before the role is judged. */
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
 * The application the guard found.
 *
 * @throws Error when the guard did not run: the route lacks its access decorator, which is our defect (500).
 */
export function requireOwnApp(request: FastifyRequest): AppRow {
  if (request.ownApp === undefined) throw new Error('No own-app guard ran before this management route.');
  return request.ownApp;
}
