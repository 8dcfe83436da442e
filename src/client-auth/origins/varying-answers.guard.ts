import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CrossOrigin } from './cross-origin.service.js';

/**
 * Sets the headers of {@link CrossOrigin} on the answers to requests without an origin, which it does not see itself.
 */
@Injectable()
export class VaryingAnswersGuard implements CanActivate {
  constructor(private readonly crossOrigin: CrossOrigin) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const { app } = http.getRequest<FastifyRequest<{ Params: { readonly app: string } }>>().params;
    await this.crossOrigin.find(app, http.getResponse<FastifyReply>().raw);
    return true;
  }
}
